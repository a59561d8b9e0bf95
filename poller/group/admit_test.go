package group

import (
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/record"
)

var orders0 = record.TopicPartition{Topic: "orders"}

// alone is a feed whose client is never asked: what a poll brought is handed to admit.
func alone(t *testing.T) *Feed {
	t.Helper()
	f := New(Config{
		Mapping: "m", Group: "g", Topics: []string{"orders"}, Gate: poller.NewGate(circuit.Limits{}),
		Limits: inflight.Limits{BatchRecords: 10, BatchBytes: 1 << 20},
		Sizes: inflight.Sizes{
			Run:    func(record.TopicPartition) int { return 10 },
			Record: func(*record.Record) int { return 10 },
		},
		Metrics: metric.New().Mapping("m"), Log: slog.New(slog.DiscardHandler),
	})
	client, err := kgo.NewClient()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	f.client = client
	close(f.made)
	return f
}

// bring admits the fetches as if one poll had returned them.
func (f *Feed) bring(fetches ...kgo.Fetch) {
	f.mu.Lock()
	f.polling, f.polled = true, make(chan struct{})
	f.mu.Unlock()
	f.admit(fetches)
}

func fetched(p kgo.FetchPartition) kgo.Fetch {
	return kgo.Fetch{Topics: []kgo.FetchTopic{{Topic: "orders", Partitions: []kgo.FetchPartition{p}}}}
}

func offsets(from, to int64) kgo.Fetch {
	p := kgo.FetchPartition{}
	for o := from; o < to; o++ {
		p.Records = append(p.Records, &kgo.Record{Topic: "orders", Offset: o})
	}
	return fetched(p)
}

func loss(consumed, reset int64) kgo.Fetch {
	return fetched(kgo.FetchPartition{Err: &kgo.ErrDataLoss{Topic: "orders", ConsumedTo: consumed, ResetTo: reset}})
}

// The client notes a loss before it goes on fetching, but hands out what was fetched since ahead of the note when both
// wait for the same poll.
func TestRecordsThatComeWithTheNewsOfALossAreKept(t *testing.T) {
	f := alone(t)
	f.set.Assign(orders0, 90, true, time.Now())
	f.bring(offsets(90, 100))
	f.bring(offsets(50, 60), loss(100, 50))
	if next, _ := f.set.Next(orders0); next != 60 || f.set.Records() != 10 {
		t.Fatalf("the window ends at %d with %d records; want 60 with the 10 that were written since", next, f.set.Records())
	}
}

// The client keeps such news over a rebalance.
func TestALossInAnotherMembersPartitionIsNotOurs(t *testing.T) {
	f := alone(t)
	f.bring(loss(100, 50))
	if _, owned := f.set.Next(orders0); owned {
		t.Fatalf("a window was opened, and its position would be committed: %v", f.set.Commits(nil))
	}
}

func TestALossWithNothingWrittenSinceMovesTheWindowBack(t *testing.T) {
	f := alone(t)
	f.set.Assign(orders0, 90, true, time.Now())
	f.bring(offsets(90, 100))
	f.bring(loss(100, 50))
	if next, _ := f.set.Next(orders0); next != 50 || f.set.Records() != 0 {
		t.Fatalf("the window ends at %d with %d records; want 50 with none", next, f.set.Records())
	}
}

// A batch below the cut that is out, or failed, is not settled by it: it comes again, and holds the commit.
func TestALossSettlesNothingBelowIt(t *testing.T) {
	f := alone(t)
	f.set.Assign(orders0, 90, true, time.Now())
	f.bring(offsets(90, 100))
	l, _ := f.set.Acquire(time.Now(), 1)
	f.bring(loss(100, 95), offsets(95, 97))
	if again, _ := f.set.Acquire(time.Now(), 1); again != nil {
		t.Fatalf("%v is handed out while %v is out", again.Runs, l.Runs)
	}
	f.set.Settle(l, [][]record.Run{{{TopicPartition: orders0, Records: l.Runs[0].Records, Retry: &record.Retry{}}}}, time.Now())
	if commits := f.set.Commits(nil); len(commits) > 0 {
		t.Fatalf("committed %v past the failed records 90 to 94", commits)
	}
	again, _ := f.set.Acquire(time.Now(), 1)
	if again == nil || again.Runs[0].First() != 90 {
		t.Fatalf("the failed records did not come again: %+v", again)
	}
}
