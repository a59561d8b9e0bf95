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
	t         *testing.T
	set       *inflight.Set
	shared    shared
	offset    int64
	responses [][]byte // of stick
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
		_, response := w.fetch()
		w.responses = append(w.responses, response)
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
	out := w.stick(200)
	held := 0
	for l := out; l != nil; l, _ = w.set.Acquire(time.Now(), 1) {
		for _, r := range l.Runs[0].Records {
			if len(r.Value) != sharedPart {
				t.Fatalf("record %d has %d bytes", r.Offset, len(r.Value))
			}
			if &r.Value[0] == &w.responses[r.Offset][0] {
				held++
			}
		}
		w.set.Settle(l, nil, time.Now())
	}
	if most := sharedBuffer / sharedPart; held > most || held == 0 { // what was out is not copied
		t.Errorf("%d of %d responses are held whole", held, len(w.responses))
	}
}

// alike fetches n responses and serves both partitions, so many records behind; none of them may have been copied.
func (w *sharedWorld) alike(n, behind int) {
	first := w.offset
	var responses [][]byte
	for i := range n {
		_, response := w.fetch()
		responses = append(responses, response)
		for range 2 * min(1, max(0, i-behind)) {
			l := w.take()
			r := l.Runs[0].Records[0]
			if r.Offset >= first && &r.Value[0] != &responses[r.Offset-first][r.Partition*sharedPart] {
				w.t.Fatalf("record %d of partition %d was copied", r.Offset, r.Partition)
			}
			w.set.Settle(l, nil, time.Now())
		}
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
	w.alike(400, 20)
	for _, p := range w.shared.parts {
		if p.own != 0 || p.rest {
			t.Errorf("it still counts as copied: %+v", p)
		}
	}
}

func TestNothingIsCopiedWhilePartitionsMoveAlike(t *testing.T) {
	w := newSharedWorld(t)
	w.alike(400, 30)
	if n := len(w.shared.parts); n > 2 {
		t.Errorf("%d partitions are watched", n)
	}
}
