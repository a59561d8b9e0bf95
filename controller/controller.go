package controller

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/metric"
)

// Options are what all mappings of a process share.
type Options struct {
	// Version is told in status.
	Version string
	Opener  Opener
	Metrics *metric.Registry
	// Buffers lends the memory of events.
	Buffers *invoke.Buffers
	// DrainTimeout is how long calls may go on when a partition is revoked.
	DrainTimeout time.Duration
	// FunctionTimeout is the time-out of a mapping's function.
	FunctionTimeout func(*mapping.Mapping) time.Duration
	Log             *slog.Logger
}

// Controller runs the mappings of this process. It satisfies lifecycle.Part.
type Controller struct {
	lifecycle.Unit
	options Options
	started time.Time
	runners []*runner // by name; fixed
}

// New returns a controller of the given mappings that has not started.
func New(mappings []mapping.Mapping, o Options) *Controller {
	c := &Controller{options: o, started: time.Now()}
	for i := range mappings {
		c.runners = append(c.runners, newRunner(&mappings[i], &c.options))
	}
	sortByName(c.runners)
	return c
}

// Start begins to run all enabled mappings. What takes time or fails shows in their status.
func (c *Controller) Start(ctx context.Context) error {
	return c.Begin(ctx, func(ctx context.Context, run lifecycle.Run) error {
		for _, r := range c.runners {
			if err := r.Start(ctx); err != nil {
				return err
			}
		}
		run.Go(func() error {
			<-run.Fetching().Done()
			return c.stopAll(run.Working())
		})
		return nil
	})
}

// stopAll stops all mappings at once and waits for them.
func (c *Controller) stopAll(working context.Context) error {
	errs := make([]error, len(c.runners))
	var wg sync.WaitGroup
	for i, r := range c.runners {
		wg.Go(func() { errs[i] = r.Stop(working) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// UntilLagZero waits until every enabled mapping has settled and committed all that its partitions held when it
// started, or until ctx ends; then it returns ctx's error.
func (c *Controller) UntilLagZero(ctx context.Context) error {
	every := time.NewTicker(interval / 4)
	defer every.Stop()
	for {
		done := true
		for _, r := range c.runners {
			done = done && r.caughtUp()
		}
		if done {
			return nil
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// caughtUp says whether what was there at start is settled and committed.
func (r *runner) caughtUp() bool {
	if !r.m.Enabled {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.targets == nil || !r.seen.lagKnown {
		return false
	}
	for tp, end := range r.targets {
		// A partition that is not there any more, with its topic, has nothing left.
		if o, ok := r.seen.offsets[tp]; ok && o.Committed < end && o.Lag > 0 {
			return false
		}
	}
	return true
}
