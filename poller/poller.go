package poller

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/scaling"
)

// Config is what the pollers of one mapping share.
type Config struct {
	// Mapping names the event source mapping in requests, logs and metrics.
	Mapping string
	// Feed is where batches come from; Function is where they go.
	Feed     Feed
	Function invoke.Function
	// Gate stands before the function; mappings that call it share one, and the feed enters it for each lease.
	Gate *Gate
	// Encoder gives a batch the form that the function wants; BatchBytesMax bounds its body: a larger one is split, not
	// sent.
	Encoder       Encoder
	BatchBytesMax int64
	// Buffers lends the memory of events; mappings share one.
	Buffers *invoke.Buffers
	// Policy decides what becomes of failures; PartialResponses says that the function may name the failed records
	// (ReportBatchItemFailures); Destination takes what is given up, nil if there is none.
	Policy           *failure.Policy
	PartialResponses bool
	Destination      failure.Destination
	// Throughput is a poller's byte budget per second, 0 for none; Concurrency its invocation slots, at least 1.
	Throughput  int64
	Concurrency int

	// Metrics count and Watch remembers what happens; Log is told of failures.
	Metrics *metric.Mapping
	Watch   *Watch
	Log     *slog.Logger
	// Rand draws pauses, in [0, 1), from any goroutine.
	Rand func() float64

	clock *clock // by which the ages of records count; NewPool's
}

// poller is one poller: a budget, and slots that take turns.
type poller struct {
	*Config
	// turn is held by the slot that acquires.
	turn  chan struct{}
	free  atomic.Int32 // slots that are not carrying a batch
	slots atomic.Int32 // slots that were started

	mu     sync.Mutex
	budget scaling.Bucket // guarded by mu

	wg   sync.WaitGroup
	stop context.CancelFunc
}

// start starts a poller with one slot; the others follow when they are needed.
func start(ctx context.Context, c *Config) *poller {
	ctx, cancel := context.WithCancel(ctx)
	p := &poller{Config: c, turn: make(chan struct{}, 1), stop: cancel}
	p.budget = scaling.NewBucket(time.Now(), c.Throughput)
	p.turn <- struct{}{}
	p.grow(ctx)
	return p
}

// grow starts another slot. The slot that holds the turn calls it, or start.
func (p *poller) grow(ctx context.Context) {
	p.slots.Add(1)
	p.free.Add(1)
	p.wg.Go(func() { p.slot(ctx) })
}

// slot acquires and processes batches until ctx ends or the feed closes.
func (p *poller) slot(ctx context.Context) {
	var b batch
	for {
		l := p.next(ctx)
		if l == nil {
			p.free.Add(-1)
			p.slots.Add(-1)
			return
		}
		for l != nil {
			l = p.process(ctx, l, &b)
			b.forget()
		}
		p.free.Add(1)
	}
}

// forget lets go of a batch that has settled: a slot that waits for its next one, maybe for long, would hold the fetch
// responses that the records came in.
func (b *batch) forget() {
	clear(b.runs)
	clear(b.given)
	b.lease, b.retry, b.runs, b.given = nil, nil, b.runs[:0], b.given[:0]
}

// next waits for the slot's turn, for budget and for a batch. It returns nil when the poller is to stop.
func (p *poller) next(ctx context.Context) *Lease {
	select {
	case <-p.turn:
	case <-ctx.Done():
		return nil
	}
	defer func() { p.turn <- struct{}{} }()
	if !p.afford(ctx) {
		return nil
	}
	l, err := p.Feed.Acquire(ctx, &p.free)
	if err != nil {
		return nil
	}
	p.charge(l)
	if p.free.Add(-1) == 0 && int(p.slots.Load()) < p.Concurrency {
		p.grow(ctx)
	}
	return l
}

// again is what a slot that has carried a batch asks for the next one with: it goes on by itself as long as there are
// batches and budget, because to hand each over to the slot that waits would cost two changes of goroutine. nil if it may
// not. The slot that waits may still get one that the budget does not cover; it is charged all the same.
func (p *poller) again(ctx context.Context) *atomic.Int32 {
	if ctx.Err() != nil || p.ready() > 0 {
		return nil
	}
	return &p.free
}

func (p *poller) charge(l *Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.budget.Charge(time.Now(), l.Bytes)
}

// ready says how long the budget is still in debt.
func (p *poller) ready() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.budget.Ready(time.Now())
}

// afford waits until the budget is out of debt.
func (p *poller) afford(ctx context.Context) bool {
	for {
		wait := p.ready()
		if wait <= 0 {
			return ctx.Err() == nil
		}
		p.Metrics.ThrottledTime.Add(wait)
		if !sleep(ctx, wait) {
			return false
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
