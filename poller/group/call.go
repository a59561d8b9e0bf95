package group

import (
	"context"
	"sync"
	"time"
)

// call is the context of one lease: it ends when the function's time-out is over, when the records are not ours any
// more, or when the lease is settled. It is what context.WithTimeout would make, without a timer for each call (the feed
// has one for all) and without a channel where nobody asks for it.
type call struct {
	parent   context.Context // for values
	deadline time.Time       // zero if there is none

	mu    sync.Mutex
	done  chan struct{} // nil until somebody asks; guarded by mu, as all below
	err   error
	hooks []*hook
}

// hook is a function that is to be called when a call ends.
type hook struct {
	call *call
	f    func()
}

var _ context.Context = (*call)(nil)

// Deadline is context.Context's.
func (c *call) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }

// Done is context.Context's.
func (c *call) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err is context.Context's.
func (c *call) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Value is context.Context's.
func (c *call) Value(key any) any { return c.parent.Value(key) }

// AfterFunc calls f in a goroutine of its own when the call has ended, unless stop is called before; stop says whether it
// was. Package context asks for it where a context is derived from this one.
func (c *call) AfterFunc(f func()) (stop func() bool) {
	h := &hook{call: c, f: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
	} else {
		c.hooks = append(c.hooks, h)
	}
	return h.stop
}

func (h *hook) stop() bool {
	c := h.call
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.hooks {
		if other == h {
			c.hooks = append(c.hooks[:i], c.hooks[i+1:]...)
			return true
		}
	}
	return false
}

// cancel ends the call without a reason of its own.
func (c *call) cancel() { c.end(context.Canceled) }

// end ends the call, if nothing has before.
func (c *call) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	if c.done != nil {
		close(c.done)
	}
	for _, h := range c.hooks {
		go h.f()
	}
	c.hooks = nil
}

// timeOut ends the calls whose time is over, and comes again for the next. All calls of a feed have the same time, so
// that a call that begins is never the first to end.
func (f *Feed) timeOut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.timing = false
	var next time.Time
	for _, lease := range f.leases {
		deadline, _ := lease.Context.Deadline()
		switch {
		case !deadline.After(now):
			lease.Context.(*call).end(context.DeadlineExceeded)
		case next.IsZero() || deadline.Before(next):
			next = deadline
		}
	}
	if !next.IsZero() {
		f.timeOutAt(now, next)
	}
}

// timeOutAt has timeOut called, if nothing has yet. The caller holds mu.
func (f *Feed) timeOutAt(now, at time.Time) {
	switch d := at.Sub(now); {
	case f.timing:
		return
	case f.timeouts == nil:
		f.timeouts = time.AfterFunc(d, f.timeOut)
	default:
		f.timeouts.Reset(d)
	}
	f.timing = true
}

// cut ends all calls.
func (f *Feed) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, lease := range f.leases {
		lease.Cancel()
	}
}
