// Package lifecycle is the one start/stop contract of Sluice's long-lived parts: feeds, pollers, the controller, servers.
//
// A part embeds Unit and writes Start with Begin; Stop, Done, Stopping and Err come with it:
//
//	type Feed struct {
//		lifecycle.Unit
//		…
//	}
//
//	func (f *Feed) Start(ctx context.Context) error { return f.Begin(ctx, f.open) }
//
//	func (f *Feed) open(ctx context.Context, run lifecycle.Run) error {
//		client, err := dial(ctx)
//		if err != nil {
//			return err
//		}
//		run.Cleanup(client.Close)
//		run.Go(func() error { return f.poll(run.Fetching(), run.Working()) })
//		return nil
//	}
//
// A unit goes one way, once:
//
//	fresh ──Begin──▶ starting ──ready──▶ running ──Stop, or a goroutine's error──▶ draining ──goroutines ended──▶ done
//	  │                 └─────────────────failed, or Stop───────────────────────────────────────────────────────▶ │
//	  └──Stop───────────────────────────────────────────────────────────────────────────────────────────────────▶ │
//
// Two contexts lead from running to done. Fetching ends first: take nothing new, let what is in flight settle. Working
// ends when the deadline of Stop passes: give up what is left. What drains within which time, and in which order parts
// stop, is left to the caller. Package lifecycletest holds a part against the contract.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Part is something that runs for long.
//
// Start returns nil once the part is ready to do its work, or an error once all that it began is undone. ctx bounds the
// start, not the run. A part starts once: a second Start returns ErrStarted; one that Stop has overtaken, ErrStopped.
//
// Stop makes the part take nothing new, waits until what it has in flight is settled, and returns when everything that
// Start began has ended. When ctx ends first, work in flight is cancelled, and Stop returns ErrCut after it has ended.
// It may be called at any time, before Start or during it, any number of times and at once; each call waits. With
// several, the earliest deadline holds. It also returns the error by which the part failed while running.
type Part interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// The errors of the contract, to be told apart with errors.Is.
var (
	ErrStarted = errors.New("already started")
	ErrStopped = errors.New("stopped")
	ErrCut     = errors.New("stopped before work in flight had settled")
)

// Unit carries out the contract of Part for the struct that embeds it. The zero value is ready; it must not be copied.
type Unit struct {
	once         sync.Once
	working      context.Context
	stopWorking  context.CancelFunc
	fetching     context.Context // child of working
	stopFetching context.CancelFunc
	done         chan struct{}

	mu       sync.Mutex
	begun    bool     // Begin or an early Stop has taken the unit
	live     int      // goroutines of Go, and 1 while Begin's function runs
	ended    bool     // nothing is live after fetching ended; no goroutine may join any more
	cleanups []func() // in the order given
	err      error    // the first failure
}

// init makes what a zero value lacks.
func (u *Unit) init() {
	u.once.Do(func() {
		u.working, u.stopWorking = context.WithCancel(context.Background())
		u.fetching, u.stopFetching = context.WithCancel(u.working)
		u.done = make(chan struct{})
	})
}

// Begin starts the unit: it calls begin, which makes the part ready and starts its goroutines on run. begin's context
// ends with ctx and also when Stop is called meanwhile; it is not for the goroutines. If begin returns an error, both
// contexts of run are ended, the goroutines waited for and the cleanups called before Begin returns that error.
func (u *Unit) Begin(ctx context.Context, begin func(ctx context.Context, run Run) error) error {
	u.init()
	if err := u.take(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(u.fetching, cancel)()

	err := begin(ctx, Run{u})
	switch {
	case u.interrupted(err):
		err = nil
		u.stopWorking()
	case err != nil:
		u.drain(err)
		u.stopWorking()
	}
	u.leave()
	if u.fetching.Err() == nil {
		return nil
	}
	<-u.done
	if err != nil {
		return err
	}
	return errors.Join(u.Err(), ErrStopped)
}

// interrupted reports whether an error is only the echo of Stop.
func (u *Unit) interrupted(err error) bool {
	return u.fetching.Err() != nil && errors.Is(err, context.Canceled)
}

func (u *Unit) take() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.fetching.Err() != nil:
		return ErrStopped
	case u.begun:
		return ErrStarted
	}
	u.begun = true
	u.live = 1
	return nil
}

// Stop is Part's Stop. A goroutine of the unit must not call it: it would wait for itself.
func (u *Unit) Stop(ctx context.Context) error {
	u.init()
	u.drain(nil)
	select {
	case <-u.done:
		return u.Err()
	default:
	}
	select {
	case <-u.done:
		return u.Err()
	case <-ctx.Done():
		u.stopWorking()
		<-u.done
		return errors.Join(u.Err(), fmt.Errorf("%w: %w", ErrCut, context.Cause(ctx)))
	}
}

// Stopping is closed when the unit has begun to stop: Stop was called, or a goroutine failed. Whoever owns the part
// calls Stop then, with a deadline.
func (u *Unit) Stopping() <-chan struct{} {
	u.init()
	return u.fetching.Done()
}

// Done is closed when everything has ended and the cleanups have run.
func (u *Unit) Done() <-chan struct{} {
	u.init()
	return u.done
}

// Err returns the error by which the unit failed, or nil. It may be asked at any time.
func (u *Unit) Err() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// drain ends the fetching context, because of err if that is not nil; with nothing live the unit ends at once.
func (u *Unit) drain(err error) {
	u.mu.Lock()
	if u.err == nil {
		u.err = err
	}
	u.begun = true
	u.stopFetching()
	u.mu.Unlock()
	u.endIfIdle()
}

func (u *Unit) leave() {
	u.mu.Lock()
	u.live--
	u.mu.Unlock()
	u.endIfIdle()
}

// endIfIdle finishes the unit when it is stopping and nothing is live. One caller finds it so; it runs the cleanups.
func (u *Unit) endIfIdle() {
	u.mu.Lock()
	if u.ended || u.live > 0 || u.fetching.Err() == nil {
		u.mu.Unlock()
		return
	}
	u.ended = true
	cleanups := u.cleanups
	u.cleanups = nil
	u.mu.Unlock()

	u.stopWorking()
	for i := len(cleanups) - 1; i >= 0; i-- {
		cleanups[i]()
	}
	close(u.done)
}
