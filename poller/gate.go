package poller

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// Gate stands before a function, for all mappings that call it: a circuit, and the feeds that wait for it. A feed enters
// before it hands a batch out, so that nothing waits with records in its hands while the function is down or busy. It
// may be used by any number of goroutines.
type Gate struct {
	mu       sync.Mutex
	circuit  *circuit.Circuit
	waiting  []*Turn // feeds that were turned away, the first first
	reserved int     // turns that were called and have not entered yet
}

// Turn is a feed's place before a gate. It belongs to one feed and is used with one gate.
type Turn struct {
	// wake is called, in a goroutine of its own, when it is the feed's turn: the feed is then to Enter, or to Decline.
	wake func()
	// queued and called are the gate's.
	queued, called bool
}

// NewTurn returns a place before a gate; wake may take locks under which the gate is called.
func NewTurn(wake func()) *Turn { return &Turn{wake: wake} }

// NewGate returns an open gate.
func NewGate(l circuit.Limits) *Gate { return &Gate{circuit: circuit.New(l)} }

// Enter asks for a call. If there is none to be had, at is when to ask again; if that is zero, the turn is woken when one
// may be had. Feeds are served by turn: nobody overtakes one that was turned away.
func (g *Gate) Enter(now time.Time, t *Turn) (p circuit.Pass, ok bool, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer(t)
	if p, ok, at = g.circuit.Enter(now, g.reserved); !ok && at.IsZero() && !t.queued {
		t.queued = true
		g.waiting = append(g.waiting, t)
	}
	return p, ok, at
}

// Decline says that a feed that was woken has no use for its turn (any more): the next one gets it.
func (g *Gate) Decline(t *Turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answer(t) {
		g.wake(1)
	}
}

// answer takes a called turn's reservation back.
func (g *Gate) answer(t *Turn) bool {
	if !t.called {
		return false
	}
	t.called = false
	g.reserved--
	return true
}

// Cancel gives a pass back unused.
func (g *Gate) Cancel(p circuit.Pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.circuit.Cancel(p)
	g.wake(1)
}

// leave gives a pass back with what became of the call. It reports whether a failure is an outage's, and how many calls
// the function has taken, for the runs to remember.
func (g *Gate) leave(now time.Time, p circuit.Pass, err *invoke.Error, runs []record.Run) (outage bool, successes uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil && err.Kind == invoke.Canceled {
		g.circuit.Cancel(p)
		g.wake(1)
		return false, g.circuit.Successes()
	}
	wasDown := g.circuit.State() != circuit.Closed
	outage = g.circuit.Leave(now, rand.Float64(), p, callOf(err, runs))
	if wasDown && g.circuit.State() == circuit.Closed {
		g.wake(len(g.waiting))
	} else {
		g.wake(1)
	}
	return outage, g.circuit.Successes()
}

// wake calls the first n turns that wait.
func (g *Gate) wake(n int) {
	n = min(n, len(g.waiting))
	for _, t := range g.waiting[:n] {
		t.queued, t.called = false, true
		g.reserved++
		go t.wake()
	}
	g.waiting = append(g.waiting[:0], g.waiting[n:]...)
}

// callOf is what an invocation's error says of the function.
func callOf(err *invoke.Error, runs []record.Run) circuit.Call {
	if err == nil {
		return circuit.Call{Result: circuit.Succeeded}
	}
	c := circuit.Call{
		Result: circuit.Failed, Runs: runs, RetryAfter: err.RetryAfter,
		Failure: circuit.Failure{Kind: err.Kind.String(), Status: err.Status},
	}
	switch err.Kind {
	case invoke.Throttled:
		c.Result = circuit.Throttled
	case invoke.Unreachable:
		c.Result = circuit.Unreachable
	case invoke.TooLarge:
		c.Result = circuit.Refused
	}
	return c
}

// Status describes the gate's circuit.
func (g *Gate) Status() circuit.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.circuit.Status()
}
