package lifecycle

import "context"

// Run is what a part's goroutines get from its unit. It is valid until the unit is done.
type Run struct{ unit *Unit }

// Fetching ends when the part is to take nothing new: Stop was called, or one of its goroutines failed.
func (r Run) Fetching() context.Context { return r.unit.fetching }

// Working ends when work in flight is to be given up: the deadline of Stop has passed, or the start failed. It never
// ends before Fetching, and at the latest when all goroutines have ended.
func (r Run) Working() context.Context { return r.unit.working }

// Go runs f in a goroutine that Stop waits for. f must return soon after Working has ended.
//
// If f returns an error, the part has failed: Fetching ends, and the error, if it is the first, is what Err and Stop
// return. context.Canceled after the part began to stop is no error. If f returns nil, the others go on.
//
// Go reports whether f was started, which it is not once all goroutines of a stopping part have ended.
func (r Run) Go(f func() error) bool {
	u := r.unit
	u.mu.Lock()
	if u.ended {
		u.mu.Unlock()
		return false
	}
	u.live++
	u.mu.Unlock()
	go func() {
		defer u.leave()
		if err := f(); err != nil && !u.interrupted(err) {
			u.drain(err)
		}
	}()
	return true
}

// Cleanup has f called when all goroutines have ended, the last given first. Called too late, when that has happened
// already, it calls f at once.
func (r Run) Cleanup(f func()) {
	u := r.unit
	u.mu.Lock()
	if u.ended {
		u.mu.Unlock()
		f()
		return
	}
	u.cleanups = append(u.cleanups, f)
	u.mu.Unlock()
}
