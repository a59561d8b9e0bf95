package group

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/record"
)

const (
	sharedBuffer = 1 << 20
	sharedPart   = 8 << 10 // of a response, for each of two partitions
)

// sharedWorld is two partitions whose records come in common responses, one record each.
type sharedWorld struct {
	t      *testing.T
	set    *inflight.Set
	shared shared
	offset int64
	// records of partition 0 and their responses, since stick.
	records   []*record.Record
	responses [][]byte
}

func newSharedWorld(t *testing.T) *sharedWorld {
	w := &sharedWorld{t: t, set: inflight.NewSet(inflight.Limits{BatchRecords: 1, BatchBytes: 6 << 20}, inflight.Sizes{
		Run: func(record.TopicPartition) int { return 0 }, Record: func(*record.Record) int { return 1 },
	})}
	for p := range int32(2) {
		w.set.Assign(record.TopicPartition{Topic: "t", Partition: p}, 0, true, time.Now())
	}
	return w
}

// fetch admits a response and returns the records and the response.
func (w *sharedWorld) fetch() (recs [2]*record.Record, response []byte) {
	response = make([]byte, 2*sharedPart)
	for p := range recs {
		recs[p] = &record.Record{Topic: "t", Partition: int32(p), Offset: w.offset, Value: response[p*sharedPart : (p+1)*sharedPart]}
		tp := record.TopicPartition{Topic: "t", Partition: int32(p)}
		before := w.set.Bytes()
		w.set.Admit(tp, []*kgo.Record{recs[p]}, time.Now())
		w.shared.admitted(tp, []*kgo.Record{recs[p]}, w.set.Bytes()-before)
	}
	w.offset++
	w.shared.part(w.set, sharedBuffer)
	return recs, response
}

// take is the next batch of any partition.
func (w *sharedWorld) take() *inflight.Lease {
	l, _ := w.set.Acquire(time.Now(), 1)
	if l == nil {
		w.t.Fatal("nothing to take")
	}
	return l
}

// stick fetches n responses while the first record of partition 0 stays out; the other partition is served.
func (w *sharedWorld) stick(n int) (out *inflight.Lease) {
	for range n {
		recs, response := w.fetch()
		w.records, w.responses = append(w.records, recs[0]), append(w.responses, response)
		for {
			l := w.take()
			if l.Runs[0].Partition == 1 {
				w.set.Settle(l, nil, time.Now())
				break
			}
			out = l
		}
	}
	return out
}

func TestAStuckPartitionDoesNotHoldWholeResponses(t *testing.T) {
	w := newSharedWorld(t)
	w.stick(200)
	stuck, responses := w.records, w.responses
	held := 0
	for i, r := range stuck {
		if &r.Value[0] == &responses[i][0] {
			held++
		}
		if len(r.Value) != sharedPart {
			t.Fatalf("record %d has %d bytes", i, len(r.Value))
		}
	}
	if most := sharedBuffer / sharedPart; held > most || held == 0 {
		t.Errorf("%d of %d responses are held whole", held, len(stuck))
	}
}

// A partition that was stuck and moves again is copied no more.
func TestCopyingEndsWhenThePartitionMovesAgain(t *testing.T) {
	w := newSharedWorld(t)
	first := w.stick(200)
	w.set.Settle(first, nil, time.Now())
	for l, _ := w.set.Acquire(time.Now(), 1); l != nil; l, _ = w.set.Acquire(time.Now(), 1) {
		w.set.Settle(l, nil, time.Now())
	}
	for range 20 {
		w.fetch()
	}
	for range 400 {
		recs, response := w.fetch()
		if &recs[0].Value[0] != &response[0] {
			t.Fatal("copied at once")
		}
		for range 2 {
			w.set.Settle(w.take(), nil, time.Now())
		}
	}
	for _, p := range w.shared.parts {
		if p.own != 0 || p.rest {
			t.Errorf("it still counts as copied: %+v", p)
		}
	}
}

func TestNothingIsCopiedWhilePartitionsMoveAlike(t *testing.T) {
	w := newSharedWorld(t)
	var all []*record.Record
	var responses [][]byte
	for i := range 400 {
		recs, response := w.fetch()
		all, responses = append(all, recs[0]), append(responses, response)
		if i > 30 {
			for range 2 {
				w.set.Settle(w.take(), nil, time.Now())
			}
		}
	}
	for i, r := range all {
		if &r.Value[0] != &responses[i][0] {
			t.Fatalf("record %d was copied", i)
		}
	}
	if n := len(w.shared.parts); n > 2 {
		t.Errorf("%d partitions are watched", n)
	}
}
