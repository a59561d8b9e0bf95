package failure

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// TestBisectFindsAPoisonRecord checks what it costs to pin one poison record in a batch of 1 000, wherever it sits:
// at most 2·log2(1000)+3 invocations until it stands alone, and no healthy record more often than the ten halvings
// and one more. The tries run one after the other, as in one partition.
func TestBisectFindsAPoisonRecord(t *testing.T) {
	const size = 1000
	bound := int(2*math.Log2(size) + 3)
	perRecord := int(math.Ceil(math.Log2(size))) + 1
	for _, poison := range []int64{0, 1, 124, 125, 499, 500, 700, 998, 999} {
		f := newPoisoned(size, poison)
		p := Policy{MaximumRetryAttempts: 0, Bisect: true, Destination: true}
		dead := f.drain(&p)
		if !slices.Equal(dead, []int64{poison}) {
			t.Errorf("poison at %d: dead letters %v", poison, dead)
		}
		if f.untilAlone > bound {
			t.Errorf("poison at %d: alone after %d invocations, want at most %d", poison, f.untilAlone, bound)
		}
		for offset, n := range f.invoked {
			if int64(offset) != poison && n > perRecord {
				t.Errorf("poison at %d: record %d invoked %d times, want at most %d", poison, offset, n, perRecord)
			}
			if int64(offset) != poison && f.taken[offset] != 1 {
				t.Errorf("poison at %d: record %d taken %d times", poison, offset, f.taken[offset])
			}
		}
	}
}

// TestSizeSplitFindsWhatFits: a target that refuses more than 64 records is never asked the same twice, and everything
// arrives.
func TestSizeSplitFindsWhatFits(t *testing.T) {
	f := newPoisoned(1000, -1)
	f.recordsMax = 64
	p := Policy{MaximumRetryAttempts: 0}
	if dead := f.drain(&p); len(dead) > 0 {
		t.Fatalf("given up: %v", dead)
	}
	for offset, n := range f.taken {
		if n != 1 {
			t.Fatalf("record %d taken %d times", offset, n)
		}
	}
	if len(f.asked) != f.invocations {
		t.Errorf("%d invocations, but only %d different batches", f.invocations, len(f.asked))
	}
}

// poisoned is a function that fails every batch with one record in it, or with too many.
type poisoned struct {
	now         time.Time
	records     []*record.Record
	poison      int64
	recordsMax  int
	invocations int
	untilAlone  int
	invoked     []int
	taken       []int
	asked       map[[2]record.Offset]bool
}

func newPoisoned(size int, poison int64) *poisoned {
	f := &poisoned{
		now: time.Unix(1_796_033_701, 0), poison: poison, recordsMax: size,
		invoked: make([]int, size), taken: make([]int, size), asked: map[[2]record.Offset]bool{},
	}
	for i := range size {
		f.records = append(f.records, &record.Record{Topic: "orders", Offset: int64(i), Timestamp: f.now})
	}
	return f
}

// drain runs until nothing waits, and returns the offsets that were given up.
func (f *poisoned) drain(p *Policy) []int64 {
	var gone []int64
	queue := []record.Run{{TopicPartition: record.TopicPartition{Topic: "orders"}, Records: f.records}}
	for len(queue) > 0 {
		run := queue[0]
		queue = queue[1:]
		err := f.invoke(run)
		if err == nil {
			continue
		}
		d := p.Failed(f.now, 0.5, run, err.Failure(""), err)
		queue = slices.Concat(d.Retry, queue)
		for _, given := range slices.Concat(d.DeadLetter, d.Drop) {
			for _, r := range given.Records {
				gone = append(gone, r.Offset)
			}
		}
	}
	return gone
}

func (f *poisoned) invoke(run record.Run) *invoke.Error {
	f.invocations++
	f.asked[[2]record.Offset{run.First(), run.Last()}] = true
	if len(run.Records) > f.recordsMax {
		return &invoke.Error{Kind: invoke.TooLarge, Status: 413}
	}
	bad := false
	for _, r := range run.Records {
		f.invoked[r.Offset]++
		bad = bad || r.Offset == f.poison
	}
	if bad {
		if len(run.Records) == 1 && f.untilAlone == 0 {
			f.untilAlone = f.invocations
		}
		return &invoke.Error{Kind: invoke.FunctionError, Status: 500}
	}
	for _, r := range run.Records {
		f.taken[r.Offset]++
	}
	return nil
}
