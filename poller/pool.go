package poller

import (
	"context"
	"sync"
	"time"
)

// Pool holds the pollers of one mapping in this process.
type Pool struct {
	config *Config
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	pollers []*poller
	leaving sync.WaitGroup // pollers that were told to stop
	closed  bool
}

// NewPool returns a pool without pollers.
func NewPool(c Config) *Pool {
	ctx, cancel := context.WithCancel(context.Background())
	c.clock = newClock(time.Now(), c.Log)
	return &Pool{config: &c, ctx: ctx, cancel: cancel}
}

// Resize starts pollers or tells the youngest to stop, so that n run, and returns at once. A poller that stops acquires
// nothing more; what its slots carry is carried to its end.
func (p *Pool) Resize(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.resize(n)
	}
}

func (p *Pool) resize(n int) {
	for len(p.pollers) < n {
		p.pollers = append(p.pollers, start(p.ctx, p.config))
	}
	for len(p.pollers) > n {
		last := p.pollers[len(p.pollers)-1]
		p.pollers = p.pollers[:len(p.pollers)-1]
		last.stop()
		p.leaving.Go(last.wg.Wait)
	}
	p.config.Metrics.Pollers.Set(int64(n))
}

// Size is how many pollers run, not counting those that are on their way out.
func (p *Pool) Size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pollers)
}

// Slots is how many invocation slots carry a batch, and how many there are.
func (p *Pool) Slots() (busy, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.pollers {
		busy += int(q.slots.Load() - q.free.Load())
	}
	return busy, len(p.pollers) * p.config.Concurrency
}

// Close tells all pollers to stop and waits until what they carry has ended, or until ctx ends; then it returns ctx's
// error, and the caller ends the leases. May be called again.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.resize(0)
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	done := make(chan struct{})
	go func() {
		p.leaving.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
