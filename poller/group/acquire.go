package group

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/record"
)

// waiter is a poller that waits for a batch.
type waiter struct {
	ch   chan *poller.Lease // one lease, or closed
	free *atomic.Int32
}

func newWaiter() any { return &waiter{ch: make(chan *poller.Lease, 1)} }

// Acquire is poller.Feed's.
func (f *Feed) Acquire(ctx context.Context, free *atomic.Int32) (*poller.Lease, error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, poller.ErrClosed
	}
	w := f.spare.Get().(*waiter)
	w.free = free
	f.waiters = append(f.waiters, w)
	f.serve(time.Now())
	if len(f.waiters) > 0 {
		signal(f.hungry)
	}
	f.mu.Unlock()

	select {
	case l := <-w.ch:
		return f.hand(w, l)
	case <-ctx.Done():
	}
	f.mu.Lock()
	if i := slices.Index(f.waiters, w); i >= 0 {
		f.waiters = slices.Delete(f.waiters, i, i+1)
		f.mu.Unlock()
		f.spare.Put(w)
		return nil, ctx.Err()
	}
	f.mu.Unlock()
	// A lease was handed over just now: it must be carried out.
	return f.hand(w, <-w.ch)
}

// hand gives the caller of Acquire what its waiter got.
func (f *Feed) hand(w *waiter, l *poller.Lease) (*poller.Lease, error) {
	if l == nil {
		return nil, poller.ErrClosed
	}
	f.spare.Put(w)
	return l, nil
}

// serve hands out what is due to those who wait, and sets the timer for what will be. The caller holds mu.
func (f *Feed) serve(now time.Time) {
	for len(f.waiters) > 0 {
		l := f.due(now, f.slots())
		if l == nil {
			return
		}
		w := f.waiters[0]
		f.waiters = slices.Delete(f.waiters, 0, 1)
		w.ch <- l
	}
}

// due is the next batch that may go out now, or nil; then the timer is set for the next that will be. The caller holds mu.
func (f *Feed) due(now time.Time, slots int) *poller.Lease {
	pass, ok, at := f.config.Gate.Enter(now, f.turn)
	if !ok {
		f.arm(now, at)
		return nil
	}
	l, at := f.set.Acquire(now, slots)
	if l == nil {
		f.config.Gate.Cancel(pass)
		f.arm(now, at)
		return nil
	}
	return f.lend(now, l, pass)
}

// slots is how many invocations could start at once.
func (f *Feed) slots() int {
	n := 0
	for _, w := range f.waiters {
		n += max(1, int(w.free.Load()))
	}
	return n
}

// lend puts a lease on the books.
func (f *Feed) lend(now time.Time, l *inflight.Lease, pass circuit.Pass) *poller.Lease {
	c := &call{parent: f.calls}
	if f.config.FunctionTimeout > 0 {
		c.deadline = now.Add(f.config.FunctionTimeout)
		f.timeOutAt(now, c.deadline)
	}
	if f.calls.Err() != nil {
		c.cancel()
	}
	lease := &poller.Lease{Lease: l, Pass: pass, Context: c, Cancel: c.cancel}
	f.leases[l] = lease
	f.config.Metrics.InFlightBatches.Add(1)
	f.config.Metrics.InFlightRecords.Add(int64(l.Records))
	f.config.Metrics.AcquiredBytes.Add(int(l.Bytes))
	return lease
}

// arm has serve called at the given time. An earlier call that is already due then does no harm.
func (f *Feed) arm(now, at time.Time) {
	if at.IsZero() || (!f.armed.IsZero() && !f.armed.After(at)) {
		return
	}
	f.armed = at
	d := max(at.Sub(now), 0)
	if f.timer == nil {
		f.timer = time.AfterFunc(d, f.tick)
	} else {
		f.timer.Reset(d)
	}
}

// called is the gate's: it is our turn to enter.
func (f *Feed) called() {
	f.tick()
	f.config.Gate.Decline(f.turn)
}

func (f *Feed) tick() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = time.Time{}
	f.serve(time.Now())
}

// Settle is poller.Feed's.
func (f *Feed) Settle(l *poller.Lease, retry [][]record.Run, free *atomic.Int32) (next *poller.Lease) {
	l.Cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	delete(f.leases, l.Lease)
	settled, stale := f.set.Settle(l.Lease, retry, now)
	f.config.Metrics.InFlightBatches.Add(-1)
	f.config.Metrics.InFlightRecords.Add(-int64(l.Records))
	f.config.Metrics.Redelivered.Add(stale)
	if settled > 0 {
		f.settled += settled
		f.total += int64(settled)
		signal(f.dirty)
	}
	if len(f.paused) > 0 {
		for i := range l.Runs {
			f.unpause(l.Runs[i].TopicPartition)
		}
	}
	if free != nil && !f.closed {
		next = f.due(now, f.slots()+1)
	}
	f.serve(now)
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
	signal(f.hungry)
	return next
}
