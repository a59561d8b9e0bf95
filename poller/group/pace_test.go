package group

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/record"
)

// hotWorld is a feed of eight partitions that has no client: its records are admitted by hand, all to one partition.
type hotWorld struct {
	feed   *Feed
	now    time.Time
	hot    record.TopicPartition
	offset int64
}

func newHotWorld(t *testing.T) *hotWorld {
	sizes := inflight.Sizes{Run: func(record.TopicPartition) int { return 0 }, Record: func(*record.Record) int { return 1 }}
	f := New(Config{
		Metrics: metric.New().Mapping("m"), Gate: poller.NewGate(circuit.Limits{}), BufferBytes: 16 << 20,
		Limits: inflight.Limits{BatchRecords: 100, BatchBytes: 6 << 20}, Sizes: sizes,
	})
	f.fetched.update = func(int32, int32) {}
	client, err := kgo.NewClient(kgo.SeedBrokers("127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	f.client = client
	f.waiters = []*waiter{{}} // a poller that has nothing to do
	w := &hotWorld{feed: f, now: time.Now(), hot: record.TopicPartition{Topic: "t"}}
	for p := range int32(8) {
		f.set.Assign(record.TopicPartition{Topic: "t", Partition: p}, 0, true, w.now)
	}
	return w
}

// admit brings the partition as many KiB.
func (w *hotWorld) admit(n int) {
	recs := make([]*kgo.Record, n)
	for i := range recs {
		recs[i] = &kgo.Record{Topic: "t", Offset: w.offset, Value: make([]byte, 1<<10-inflight.RecordOverhead)}
		w.offset++
	}
	w.feed.set.Admit(w.hot, recs, w.now)
}

// settle takes a batch of the partition through.
func (w *hotWorld) settle() {
	if l, _ := w.feed.set.Acquire(w.now, 8); l != nil {
		w.feed.set.Settle(l, nil, w.now)
	}
}

// TestABusyPartitionIsNotPaused: where one partition has nearly all records, fetches without it would let it run dry again
// and again.
func TestABusyPartitionIsNotPaused(t *testing.T) {
	w := newHotWorld(t)
	w.feed.plan(w.now)
	for i := range 100 { // 10 s at 10 MiB/s
		w.admit(1 << 10)
		if i == 30 {
			w.admit(5 << 10) // more than its share
		}
		for range 10 {
			w.settle()
		}
		w.now = w.now.Add(100 * time.Millisecond)
		w.feed.plan(w.now)
	}
	if w.feed.paused[w.hot] {
		t.Error("a busy partition is paused")
	}
	w.admit(16 << 10)
	if poll, again := w.feed.plan(w.now); poll || !again || w.feed.paused[w.hot] {
		t.Errorf("a full buffer that makes room by itself: poll %v, again %v, paused %v", poll, again, w.feed.paused[w.hot])
	}
	w.now = w.now.Add(stillAfter) // and now it stands still
	if poll, _ := w.feed.plan(w.now); !poll || !w.feed.paused[w.hot] {
		t.Errorf("a partition that stands still: poll %v, paused %v", poll, w.feed.paused[w.hot])
	}
}

// TestASlowPartitionIsPaused, so that the others are fetched while it has enough to do.
func TestASlowPartitionIsPaused(t *testing.T) {
	w := newHotWorld(t)
	w.admit(5 << 10)
	for range 40 {
		w.settle()
		w.now = w.now.Add(100 * time.Millisecond)
		w.feed.plan(w.now)
	}
	if pace := w.feed.pace.of(w.feed.set, w.hot, w.now); !w.feed.paused[w.hot] || pace == 0 {
		t.Errorf("paused %v, pace %d", w.feed.paused[w.hot], pace)
	}
}
