package controller_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicehq/sluice/controller"
	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/record"
)

// world is everything around a controller, in memory.
type world struct {
	mu       sync.Mutex
	openErr  error
	opened   int
	closed   int
	backlog  int                  // records that a feed finds when it is made
	others   []controller.Offsets // of partitions that other processes own
	feed     *feed
	lagErr   error
	spec     controller.FeedSpec                             // of the last Open
	change   func([]controller.Offsets) []controller.Offsets // what Read says instead
	function func(ctx context.Context, req *invoke.Request) (invoke.Response, error)
}

// Encoder is controller.Opener's.
func (w *world) Encoder(*mapping.Mapping) poller.Encoder { return invoke.NewEncoder(invoke.Source{}) }

// Open is controller.Opener's.
func (w *world) Open(_ context.Context, _ *mapping.Mapping, s controller.FeedSpec) (*controller.Adapters, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.openErr != nil {
		return nil, w.openErr
	}
	w.opened++
	w.spec = s
	w.feed = newFeed(s)
	w.feed.add(w.backlog)
	return &controller.Adapters{
		Feed: w.feed, Function: w, Gate: w.feed.gate, Offsets: w,
		Explain: func(err error) (string, string) { return "explained " + err.Error(), "do something" },
		Close:   func() { w.mu.Lock(); w.closed++; w.mu.Unlock() },
	}, nil
}

// get returns the feed that was opened last.
func (w *world) get() *feed {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.feed
}

// Invoke is invoke.Function's.
func (w *world) Invoke(ctx context.Context, req *invoke.Request) (invoke.Response, error) {
	w.mu.Lock()
	function := w.function
	w.mu.Unlock()
	if function != nil {
		return function(ctx, req)
	}
	return invoke.Response{Status: 200}, nil
}

// Read is controller.OffsetReader's.
func (w *world) Read(context.Context) ([]controller.Offsets, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lagErr != nil {
		return nil, w.lagErr
	}
	return w.changed(append(w.feed.offsets(), w.others...)), nil
}

// feed hands out the records that a test puts in.
type feed struct {
	lifecycle.Unit
	mu      sync.Mutex
	set     *inflight.Set
	gate    *poller.Gate
	turn    *poller.Turn
	changed chan struct{}
	next    int64
	done    atomic.Int64
	joined  atomic.Bool
	problem error

	topicLife
}

var tp = record.TopicPartition{Topic: "orders", Partition: 0}

func newFeed(s controller.FeedSpec) *feed {
	f := &feed{
		set: inflight.NewSet(s.Limits, s.Sizes), changed: make(chan struct{}), topicLife: topicLife{lapsed: make(chan struct{})},
		gate: poller.NewGate(circuit.Limits{OutageProtection: true}),
	}
	f.turn = poller.NewTurn(f.wake)
	f.set.Assign(tp, 0, true, time.Now())
	f.joined.Store(true)
	return f
}

func (f *feed) add(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		f.set.Admit(tp, []*record.Record{{Topic: "orders", Offset: f.next, Value: []byte("x")}}, time.Now())
		f.next++
	}
	f.change()
}

func (f *feed) change() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *feed) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.change()
}

func (f *feed) offsets() []controller.Offsets {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.set.States()[0]
	return []controller.Offsets{{TopicPartition: tp, End: record.Offset(f.next), Committed: st.CommitPoint, Lag: f.next - int64(st.CommitPoint)}}
}

func (f *feed) Start(ctx context.Context) error {
	return f.Begin(ctx, func(context.Context, lifecycle.Run) error { return nil })
}

func (f *feed) Acquire(ctx context.Context, free *atomic.Int32) (*poller.Lease, error) {
	for {
		f.mu.Lock()
		changed := f.changed
		pass, ok, at := f.gate.Enter(time.Now(), f.turn)
		var l *inflight.Lease
		if ok {
			if l, at = f.set.Acquire(time.Now(), int(free.Load())); l == nil {
				f.gate.Cancel(pass)
			}
		}
		f.mu.Unlock()
		if l != nil {
			c, cancel := context.WithCancel(context.Background())
			return &poller.Lease{Lease: l, Pass: pass, Context: c, Cancel: cancel}, nil
		}
		var due <-chan time.Time
		if !at.IsZero() {
			due = time.After(time.Until(at))
		}
		select {
		case <-changed:
		case <-due:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *feed) Settle(l *poller.Lease, retry [][]record.Run, _ *atomic.Int32) *poller.Lease {
	l.Cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	settled, _ := f.set.Settle(l.Lease, retry, time.Now())
	f.done.Add(int64(settled))
	f.change()
	return nil
}

func (f *feed) Joined() bool { return f.joined.Load() }
func (f *feed) Problem() (time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now(), f.problem
}
func (f *feed) Settled() int64                                       { return f.done.Load() }
func (f *feed) Probe(context.Context, []record.TopicPartition) error { return nil }
func (f *feed) States() []inflight.State                             { f.mu.Lock(); defer f.mu.Unlock(); return f.set.States() }

func run(t *testing.T, w *world, change func(*mapping.Mapping)) *controller.Controller {
	t.Helper()
	m := mapping.New("orders", "fn", "main", "orders")
	m.BatchingWindow = 0
	if change != nil {
		change(&m)
	}
	c := newController(w, m)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func newController(w *world, ms ...mapping.Mapping) *controller.Controller {
	return controller.New(ms, controller.Options{
		Version: "test", Opener: w, Metrics: metric.New(), Buffers: invoke.NewBuffers(1 << 20),
		DrainTimeout: 5 * time.Second, FunctionTimeout: func(*mapping.Mapping) time.Duration { return 10 * time.Second },
		Log: slog.New(slog.DiscardHandler),
	})
}

func stop(t *testing.T, c *controller.Controller) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func only(c *controller.Controller) controller.MappingStatus { return c.Status().Mappings[0] }
