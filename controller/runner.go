package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/scaling"
)

// runner runs one mapping. Its goroutine alone opens, scales and closes; status reads what it publishes.
type runner struct {
	lifecycle.Unit
	m       *mapping.Mapping
	options *Options
	metrics *metric.Mapping
	log     *slog.Logger
	watch   poller.Watch

	scaler *scaling.Scaler // of the runner's goroutine
	rates  rates           // of the runner's goroutine
	rest   rest

	mu       sync.Mutex
	status   mapping.Status
	problem  string // why the adapters are not open
	adapters *Adapters
	pool     *poller.Pool
	seen     seen
	told     string     // the trouble with the cluster that was logged last
	settled  int64      // by feeds before the present one
	history  []Decision // the newest last, at most historyMax
	targets  map[record.TopicPartition]record.Offset
}

// historyMax bounds the scaling decisions that are remembered: those that changed something, and the last one.
const historyMax = 100

func newRunner(m *mapping.Mapping, o *Options) *runner {
	r := &runner{
		m: m, options: o, metrics: o.Metrics.Mapping(string(m.Name)),
		log:    o.Log.With("mapping", string(m.Name)),
		scaler: scaling.New(scalingOf(m)),
	}
	event := mapping.Create
	if !m.Enabled {
		event = mapping.CreateDisabled
	}
	r.step(event)
	r.metrics.PollersMinimum.Set(int64(m.MinimumPollers))
	r.metrics.PollersMaximum.Set(int64(m.MaximumPollers))
	return r
}

// step moves the mapping's state. The runner only asks for what is allowed.
func (r *runner) step(e mapping.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, err := mapping.Step(r.status, e)
	if err != nil {
		panic(fmt.Sprintf("controller: %s: %v", r.m.Name, err))
	}
	r.status = next
}

// Start begins to run the mapping and returns at once: what takes time or fails shows in its status.
func (r *runner) Start(ctx context.Context) error {
	return r.Begin(ctx, func(_ context.Context, run lifecycle.Run) error {
		if !r.m.Enabled {
			r.step(mapping.Done)
			return nil
		}
		run.Go(func() error {
			var recreated map[string]string
			for first := true; r.open(run.Fetching(), recreated); first = false {
				if first {
					r.step(mapping.Done)
				}
				r.tick(run.Fetching())
				if run.Fetching().Err() != nil {
					break
				}
				recreated = r.adapters.Feed.Recreated()
				r.reopen(run.Working())
			}
			r.close(run.Working())
			return nil
		})
		return nil
	})
}

// The pauses between tries to open a mapping's adapters.
const (
	openPause    = time.Second
	openPauseMax = 30 * time.Second
	// openTimeout bounds one try: a cluster that does not answer is as good as one that refuses.
	openTimeout = 15 * time.Second
)

// open makes and starts the adapters, again and again until it succeeds or ctx ends. recreated is what the feed before
// told.
func (r *runner) open(ctx context.Context, recreated map[string]string) bool {
	encoder := r.options.Opener.Encoder(r.m)
	for pause := openPause; ; pause = min(2*pause, openPauseMax) {
		bounded, cancel := context.WithTimeout(ctx, openTimeout)
		a, err := r.options.Opener.Open(bounded, r.m, FeedSpec{
			Filter: filterOf(r.m), Limits: limitsOf(r.m), Sizes: sizesOf(encoder), DrainTimeout: r.options.DrainTimeout,
			Recreated: recreated,
			Metrics:   r.metrics, Log: r.log,
		})
		cancel()
		if err == nil {
			if err = a.Feed.Start(ctx); err == nil {
				r.opened(a, encoder)
				return true
			}
			a.Close()
		}
		if ctx.Err() != nil {
			return false
		}
		r.refused(err, pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
	}
}

func (r *runner) refused(err error, pause time.Duration) {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		r.log.Error("the mapping is refused", "reason", refusal.Reason)
	} else {
		r.log.Warn("the mapping cannot start yet; trying again", "in", pause, "error", err)
	}
	r.mu.Lock()
	r.problem = err.Error()
	r.mu.Unlock()
}

func (r *runner) opened(a *Adapters, encoder poller.Encoder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problem = ""
	r.adapters = a
	r.pool = poller.NewPool(poller.Config{
		Mapping: string(r.m.Name), Feed: a.Feed, Function: a.Function, Gate: a.Gate, Encoder: encoder,
		BatchBytesMax: r.m.MaximumBatchBytes, Buffers: r.options.Buffers,
		Policy: policyOf(r.m), PartialResponses: r.m.ReportBatchItemFailures, Destination: a.Destination,
		Throughput: r.m.PollerThroughput, Concurrency: r.m.PollerConcurrency,
		Metrics: r.metrics, Watch: &r.watch, Log: r.log, Rand: rand.Float64,
	})
	r.pool.Resize(r.scaler.Count())
}

// reopen closes a feed that has lapsed, as at a stop: what is out may settle for the drain time.
func (r *runner) reopen(working context.Context) {
	ctx, cancel := context.WithTimeout(working, r.options.DrainTimeout)
	defer cancel()
	r.close(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settled += r.adapters.Feed.Settled()
	r.adapters, r.pool = nil, nil
	r.seen.partitions = nil
}

// close stops in order: pollers first, so that what is out settles while the feed still commits, then the feed. When
// working ends, the feed cancels what is left.
func (r *runner) close(working context.Context) {
	r.mu.Lock()
	a, pool := r.adapters, r.pool
	r.mu.Unlock()
	if a == nil {
		return
	}
	if err := pool.Close(working); err != nil {
		r.log.Warn("drain time is over; cancelling the calls that are out")
	}
	if err := a.Feed.Stop(working); err != nil && !errors.Is(err, lifecycle.ErrCut) {
		r.log.Warn("stopping the feed", "error", err)
	}
	a.Close()
	r.metrics.Ready.SetBool(false)
	snap, settled := r.metrics.Snapshot(), a.Feed.Settled()
	r.log.Info("stopped", "settled", settled, "taken", settled-snap.OnFailureDestinationDelivered-snap.Dropped,
		"deadLettered", snap.OnFailureDestinationDelivered, "dropped", snap.Dropped, "committed", snap.Committed)
}
