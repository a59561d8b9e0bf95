package group_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/internal/lifecycle/lifecycletest"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

func fine(int, []string) (invoke.Response, error) { return invoke.Response{Status: 200}, nil }

func broken() error {
	return &invoke.Error{Kind: invoke.FunctionError, Status: 500}
}

func TestEveryRecordIsTakenOnceInOrderAndCommitted(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 4, nil)
	produce(c, "orders", 4, 1000)
	fn := target(fine)
	m := join(t, c, "m", []string{"orders"}, fn, options{pollers: 2})
	c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
	m.stop()

	if taken := fn.taken(); len(taken) != 1000 {
		t.Errorf("%d records taken of 1000", len(taken))
	}
	next := map[string]int{}
	for _, call := range fn.list() {
		if len(call.ids) > 10 {
			t.Errorf("a batch of %d; at most 10 are allowed", len(call.ids))
		}
		for _, id := range call.ids {
			tp, o := split(id)
			if o != next[tp] {
				t.Fatalf("%s came when %d was next", id, next[tp])
			}
			next[tp]++
		}
	}
	if committed := m.metrics.Committed.Value(); committed != 1000 {
		t.Errorf("counted %d records as committed", committed)
	}
}

func split(id string) (tp string, offset int) {
	tp, o, _ := strings.Cut(id, "@")
	n, err := strconv.Atoi(o)
	if err != nil {
		panic(err)
	}
	return tp, n
}

func TestARestartDeliversNothingAgain(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 3, nil)
	produce(c, "orders", 3, 300)
	fn := target(fine)
	m := join(t, c, "m", []string{"orders"}, fn, options{})
	until(t, "all taken", func() bool { return len(fn.taken()) == 300 })
	m.stop() // commits what has settled since the last commit
	m = join(t, c, "m", []string{"orders"}, fn, options{})
	produce(c, "orders", 3, 30)
	until(t, "the new ones", func() bool { return len(fn.taken()) == 330 })
	m.stop()
	for id, n := range fn.taken() {
		if n != 1 {
			t.Errorf("%s was taken %d times", id, n)
		}
	}
}

// AWS, StartingPosition. Faults 16 and 17: a position is committed at the first assignment, so that neither downtime
// loses records nor a restart replays them.
func TestStartingPositions(t *testing.T) {
	middle := time.UnixMilli(1_800_000_050_000)
	cases := []struct {
		name  string
		start group.Position
		first int
	}{
		{"TRIM_HORIZON begins at the oldest record", group.TrimHorizon, 0},
		{"LATEST begins behind the newest", group.Latest, 100},
		{"AT_TIMESTAMP begins at the first record not older", group.AtTimestamp, 50},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := kafkatest.Fake(t, kafkatest.Options{})
			c.CreateTopic("orders", 1, nil)
			for i := range 100 {
				c.Produce(&kgo.Record{Topic: "orders", Value: []byte("old"), Timestamp: time.UnixMilli(1_800_000_000_000 + int64(i)*1000)})
			}
			o := options{config: func(g *group.Config) { g.Start, g.StartAt = tc.start, middle }}
			fn := target(fine)
			m := join(t, c, "m", []string{"orders"}, fn, o)
			at := record.TopicPartition{Topic: "orders"}
			until(t, "the position is committed", func() bool { _, ok := c.Committed("g-m")[at]; return ok })
			m.stop()
			produce(c, "orders", 1, 10) // while we are down
			m = join(t, c, "m", []string{"orders"}, fn, o)
			c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
			m.stop()
			taken := fn.taken()
			if len(taken) != 110-tc.first {
				t.Errorf("%d records taken, want %d", len(taken), 110-tc.first)
			}
			if _, ok := taken[fmt.Sprintf("orders-0@%d", tc.first)]; !ok {
				t.Errorf("record %d is missing", tc.first)
			}
		})
	}
}

// Faults 1, 8 and 44: a failed record is not passed by the commit, comes again as often as allowed and no oftener.
func TestAFailedBatchComesAgainAndHoldsTheCommit(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 2, nil)
	produce(c, "orders", 2, 40)
	var mend atomic.Bool
	fn := target(func(_ int, ids []string) (invoke.Response, error) {
		if slices.Contains(ids, "orders-0@7") && !mend.Load() {
			return invoke.Response{}, broken()
		}
		return invoke.Response{}, nil
	})
	o := options{policy: failure.Policy{MaximumRetryAttempts: -1, InitialBackoff: time.Millisecond, MaximumBackoff: 5 * time.Millisecond}}
	m := join(t, c, "m", []string{"orders"}, fn, o)
	other := record.TopicPartition{Topic: "orders", Partition: 1}
	stuck := record.TopicPartition{Topic: "orders", Partition: 0}
	until(t, "the healthy partition is done", func() bool { return c.Committed("g-m")[other] == 20 })
	until(t, "a few tries", func() bool { return len(fn.list()) > 10 })
	if at := c.Committed("g-m")[stuck]; at > 7 {
		t.Errorf("committed %d past the failing record 7", at)
	}
	for _, st := range m.feed.States() {
		if st.TopicPartition == stuck && st.Head != nil && st.Head.Retry != nil && st.Head.Retry.Attempts == 0 {
			t.Error("the head of the stuck partition has no attempts")
		}
	}
	mend.Store(true)
	c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
	m.stop()
	if n := len(fn.taken()); n != 40 {
		t.Errorf("%d records taken of 40", n)
	}
}

// The batch id is the same for every attempt of the same records; attempts count up.
func TestRetriesKeepTheBatchIdAndCountAttempts(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	produce(c, "orders", 1, 5)
	fn := target(func(call int, _ []string) (invoke.Response, error) {
		if call < 3 {
			return invoke.Response{}, broken()
		}
		return invoke.Response{}, nil
	})
	m := join(t, c, "m", []string{"orders"}, fn, options{
		policy: failure.Policy{MaximumRetryAttempts: -1},
		config: func(g *group.Config) { g.Limits.BatchingWindow = 200 * time.Millisecond },
	})
	until(t, "taken", func() bool { return len(fn.taken()) == 5 })
	m.stop()
	for i, call := range fn.list() {
		if call.attempt != i+1 || call.batchID != fn.list()[0].batchID {
			t.Errorf("call %d: attempt %d, batch %s; the first was %s", i, call.attempt, call.batchID, fn.list()[0].batchID)
		}
	}
}

// Fault 22 and 23: what is in flight when a partition is revoked may end, and is committed before it goes.
func TestARebalanceDrainsAndLosesNothing(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 6, nil)
	produce(c, "orders", 6, 3000)
	fn := target(func(int, []string) (invoke.Response, error) {
		time.Sleep(2 * time.Millisecond)
		return invoke.Response{}, nil
	})
	first := join(t, c, "m", []string{"orders"}, fn, options{pollers: 2})
	until(t, "some records", func() bool { return len(fn.taken()) > 200 })
	for range 3 {
		second := join(t, c, "m", []string{"orders"}, fn, options{pollers: 2})
		until(t, "the second member has partitions", func() bool { return len(second.feed.States()) > 0 })
		time.Sleep(50 * time.Millisecond)
		second.stop()
	}
	c.WaitLagZero("g-m", []string{"orders"}, 30*time.Second)
	first.stop()
	twice := 0
	taken := fn.taken()
	for _, n := range taken {
		twice += n - 1
	}
	if len(taken) != 3000 {
		t.Errorf("%d records taken of 3000", len(taken))
	}
	if twice != 0 {
		t.Errorf("%d records were taken again although every call ended in time", twice)
	}
	checkOrder(t, fn.list())
}

// checkOrder: within a partition no record is handed over before all earlier ones were taken.
func checkOrder(t *testing.T, calls []call) {
	t.Helper()
	type end struct{ began, done time.Time }
	taken := map[string]map[int]end{}
	for _, c := range calls {
		if c.failed || c.done.IsZero() {
			continue
		}
		for _, id := range c.ids {
			tp, o := split(id)
			if taken[tp] == nil {
				taken[tp] = map[int]end{}
			}
			if old, ok := taken[tp][o]; !ok || c.done.Before(old.done) {
				taken[tp][o] = end{c.began, c.done}
			}
		}
	}
	for _, c := range calls {
		for _, id := range c.ids {
			tp, o := split(id)
			if o == 0 {
				continue
			}
			before, ok := taken[tp][o-1]
			same := slices.Contains(c.ids, fmt.Sprintf("%s@%d", tp, o-1))
			if !same && (!ok || before.done.After(c.began)) {
				t.Fatalf("%s was handed over before %d was taken", id, o-1)
			}
		}
	}
}

// Faults 24 and 37: a call that outlives its drain is cancelled, and its result counts for nothing.
func TestACallThatOutlivesItsDrainIsCancelled(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 2, nil)
	produce(c, "orders", 2, 2)
	var blocked sync.Map
	release := make(chan struct{})
	fn := target(func(call int, ids []string) (invoke.Response, error) {
		if _, again := blocked.LoadOrStore(ids[0], true); !again {
			<-release
		}
		return invoke.Response{}, nil
	})
	o := options{config: func(g *group.Config) { g.DrainTimeout = 300 * time.Millisecond; g.Limits.BatchRecords = 1 }}
	first := join(t, c, "m", []string{"orders"}, fn, o)
	until(t, "both calls are out", func() bool { return len(fn.list()) == 2 })
	second := join(t, c, "m", []string{"orders"}, fn, o)
	until(t, "one partition moves and is delivered there", func() bool {
		return len(second.feed.States()) == 1 && len(fn.taken()) >= 1
	})
	close(release)
	c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
	first.stop()
	second.stop()
	if n := first.metrics.Redelivered.Value(); n != 1 {
		t.Errorf("%d stale records counted, want 1", n)
	}
}

func TestTransactionsAndControlRecordsEndAtLagZero(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	for i := range 5 {
		c.ProduceTransaction(i%2 == 0, &kgo.Record{Topic: "orders", Value: []byte("x")}, &kgo.Record{Topic: "orders", Value: []byte("y")})
	}
	fn := target(fine)
	m := join(t, c, "m", []string{"orders"}, fn, options{})
	c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
	m.stop()
	if n := len(fn.taken()); n != 6 {
		t.Errorf("%d records taken, want the 6 of the committed transactions", n)
	}
}

func TestTopicsByExpressionAndTopicsThatComeLater(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("shop.orders", 1, nil)
	c.CreateTopic("other", 1, nil)
	produce(c, "shop.orders", 1, 5)
	produce(c, "other", 1, 5)
	fn := target(fine)
	m := join(t, c, "m", nil, fn, options{config: func(g *group.Config) {
		g.Regex = `^shop\.`
		dial := g.Dial
		g.Dial = func(opts ...kgo.Opt) (*kgo.Client, error) {
			return dial(append(opts, kgo.MetadataMaxAge(300*time.Millisecond), kgo.MetadataMinAge(50*time.Millisecond))...)
		}
	}})
	until(t, "the first topic", func() bool { return len(fn.taken()) == 5 })
	c.CreateTopic("shop.returns", 2, nil)
	produce(c, "shop.returns", 2, 6)
	until(t, "the new topic", func() bool { return len(fn.taken()) == 11 })
	m.stop()
	for id := range fn.taken() {
		if strings.HasPrefix(id, "other") {
			t.Errorf("%s does not match the expression", id)
		}
	}
}

// held is a destination that confirms only while it is open.
type held struct {
	open atomic.Bool
	mu   sync.Mutex
	got  []string
}

func (h *held) Deliver(_ context.Context, run record.Run) ([]*record.Record, error) {
	if !h.open.Load() {
		return run.Records, fmt.Errorf("the destination is down")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range run.Records {
		h.got = append(h.got, fmt.Sprintf("%s@%d %s", run.TopicPartition, r.Offset, run.Retry.GiveUp))
	}
	return nil, nil
}

// Fault 38: a destination that is down holds records back, uncommitted; they arrive when it is up again.
func TestADestinationThatIsDownHoldsItsRecordsBack(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	produce(c, "orders", 1, 20)
	fn := target(func(_ int, ids []string) (invoke.Response, error) {
		if slices.Contains(ids, "orders-0@4") {
			return invoke.Response{}, broken()
		}
		return invoke.Response{}, nil
	})
	dest := &held{}
	o := options{
		policy: failure.Policy{MaximumRetryAttempts: 1, Destination: true, Bisect: true, InitialBackoff: time.Millisecond, MaximumBackoff: 4 * time.Millisecond},
		dest:   dest,
	}
	m := join(t, c, "m", []string{"orders"}, fn, o)
	until(t, "deliveries fail", func() bool { return m.metrics.OnFailureDestinationDeliveryErrors.Value() > 3 })
	if at := c.Committed("g-m")[record.TopicPartition{Topic: "orders"}]; at > 4 {
		t.Errorf("committed %d past the record that has no confirmation", at)
	}
	dest.open.Store(true)
	c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
	m.stop()
	if want := []string{"orders-0@4 RetryAttemptsExhausted"}; !slices.Equal(dest.got, want) {
		t.Errorf("dead letters %v, want %v", dest.got, want)
	}
	if n := len(fn.taken()); n != 19 {
		t.Errorf("%d records taken, want 19", n)
	}
}

func TestPartialResponsesRetryTheNamedRecordsOnly(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	produce(c, "orders", 1, 10)
	fn := target(func(call int, _ []string) (invoke.Response, error) {
		body := `{"batchItemFailures":[]}`
		if call == 0 {
			body = `{"batchItemFailures":[{"itemIdentifier":{"partition":"orders-0","offset":3}},{"itemIdentifier":{"partition":"orders-0","offset":6}}]}`
		}
		return invoke.Response{Status: 200, Body: []byte(body)}, nil
	})
	m := join(t, c, "m", []string{"orders"}, fn, options{
		partial: true, policy: failure.Policy{MaximumRetryAttempts: 3},
		config: func(g *group.Config) { g.Limits.BatchingWindow = 300 * time.Millisecond },
	})
	c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
	m.stop()
	calls := fn.list()
	if len(calls) != 2 || !slices.Equal(calls[1].ids, []string{"orders-0@3", "orders-0@6"}) {
		t.Errorf("calls: %v", calls)
	}
}

// Faults 70 and 73: however long the lag and however stuck the function, the buffer is bounded; and a stuck partition
// does not starve the others.
func TestTheBufferIsBoundedAndAStuckPartitionStopsNobody(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 4, nil)
	noise := rand.NewChaCha8([32]byte{})
	var recs []*kgo.Record
	for i := range 20_000 {
		value := make([]byte, 1000) // that no compression makes smaller: fetches are bounded in bytes on the wire
		_, _ = noise.Read(value)
		recs = append(recs, &kgo.Record{Topic: "orders", Partition: int32(i % 4), Value: value})
	}
	c.Produce(recs...)
	fn := target(func(_ int, ids []string) (invoke.Response, error) {
		if strings.HasPrefix(ids[0], "orders-0@") {
			return invoke.Response{}, broken()
		}
		return invoke.Response{}, nil
	})
	const buffer = 1 << 20
	m := join(t, c, "m", []string{"orders"}, fn, options{
		policy: failure.Policy{MaximumRetryAttempts: -1, InitialBackoff: 10 * time.Millisecond, MaximumBackoff: 50 * time.Millisecond},
		config: func(g *group.Config) { g.BufferBytes = buffer; g.Limits.BatchRecords = 100 },
	})
	var most int64
	until(t, "the other partitions are done", func() bool {
		_, bytes := m.feed.Buffered()
		most = max(most, bytes)
		return len(fn.taken()) == 15_000
	})
	m.stop()
	// kfake answers with one batch of every partition, of 1 MiB each here, whatever the bound of the response.
	if most > 2*buffer+4<<20 {
		t.Errorf("held %d bytes; the buffer is %d, twice that with blocked partitions, and a fetch 4 MiB", most, buffer)
	}
}

func TestLifecycle(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	lifecycletest.Stress(t, func() lifecycle.Part {
		return group.New(group.Config{
			Mapping: "m", Group: "g", Topics: []string{"orders"},
			Sizes: plainSizes, Gate: poller.NewGate(circuit.Limits{}),
			Dial: func(opts ...kgo.Opt) (*kgo.Client, error) {
				return kgo.NewClient(append(opts, kgo.SeedBrokers(c.Bootstrap()...))...)
			},
			Metrics: metric.New().Mapping("m"), Log: discard,
		})
	})
}

// LATEST means what comes after the mapping began: topics that an expression matches later, and partitions that are added
// while nothing runs, lose nothing.
func TestLatestLosesNothingOfWhatComesLater(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("shop.orders", 2, nil)
	produce(c, "shop.orders", 2, 10) // from before
	fn := target(fine)
	o := options{config: func(g *group.Config) {
		g.Start, g.Regex = group.Latest, `^shop\.`
		dial := g.Dial
		g.Dial = func(opts ...kgo.Opt) (*kgo.Client, error) {
			return dial(append(opts, kgo.MetadataMaxAge(300*time.Millisecond), kgo.MetadataMinAge(50*time.Millisecond))...)
		}
	}}
	m := join(t, c, "m", nil, fn, o)
	until(t, "it is ready", m.feed.Joined)
	if committed := c.Committed("g-m"); len(committed) != 2 {
		t.Errorf("ready with %d positions committed", len(committed))
	}
	time.Sleep(10 * time.Millisecond)
	c.CreateTopic("shop.returns", 1, nil)
	produce(c, "shop.returns", 1, 5)
	until(t, "the new topic", func() bool { return len(fn.taken()) == 5 })
	m.stop()
	if _, err := c.Admin().CreatePartitions(t.Context(), 1, "shop.orders"); err != nil {
		t.Fatal(err)
	}
	fresh := c.Client(kgo.RecordPartitioner(kgo.ManualPartitioner())) // it knows the new partition
	if err := fresh.ProduceSync(t.Context(), &kgo.Record{Topic: "shop.orders", Partition: 2, Value: []byte("x")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	c.CreateTopic("shop.refunds", 1, nil)
	produce(c, "shop.refunds", 1, 3)
	m = join(t, c, "m", nil, fn, o)
	until(t, "what came while nothing ran", func() bool { return len(fn.taken()) == 9 })
	m.stop()
	for id := range fn.taken() {
		if strings.HasPrefix(id, "shop.orders-0") || strings.HasPrefix(id, "shop.orders-1") {
			t.Errorf("%s is from before the mapping began", id)
		}
	}
}
