package circuit

import (
	"time"

	"github.com/sluicehq/sluice/record"
)

// Limits are what a function's configuration says.
type Limits struct {
	// MaxConcurrency bounds the calls at once; 0 is no bound.
	MaxConcurrency int
	// OutageProtection says that failures after connecting may count as an outage too. Without it only a function
	// that cannot be reached is down.
	OutageProtection bool
}

// State is what a circuit does with calls.
type State uint8

// The states of a circuit.
const (
	// Closed: calls pass. Entered by New, and when a probe succeeds.
	Closed State = iota
	// Open: none pass until the pause is over. Entered by evidence of an outage, and when a probe fails.
	Open
	// Probing: one call is out to see. Entered by the first call after the pause.
	Probing
)

// String returns the state as status shows it.
func (s State) String() string { return [...]string{"closed", "open", "probing"}[s] }

// The pauses between probes, before jitter. The longest one is below the 5 s in which everything is to flow again after
// an outage.
const (
	probeFirst = 250 * time.Millisecond
	probeMax   = 3 * time.Second
)

// Circuit stands before one function. The zero value is not usable; see New.
type Circuit struct {
	limits Limits
	state  State
	// out is how many calls are out.
	out int
	// quiet is until when Retry-After asks for no calls; probeAt when the next probe may start, pause the last pause
	// between probes.
	quiet   time.Time
	probeAt time.Time
	pause   time.Duration
	since   time.Time // of the outage
	cause   Failure   // of the outage
	refused bool      // the cause: there was no connection

	// successes counts calls that the function has taken.
	successes uint64
	evidence  evidence

	// limit is how many calls may be out at once because the function throttled; 0 means that it does not.
	limit     float64
	throttled time.Time // when limit was last lowered
	peak      int       // calls out when the function throttled first
}

// New returns a closed circuit.
func New(l Limits) *Circuit { return &Circuit{limits: l} }

// Pass is the permission for one call. It is given back to Leave or Cancel, once.
type Pass struct{ probe bool }

// Probe says whether the call is to find out if an outage is over.
func (p Pass) Probe() bool { return p.probe }

// Enter asks to call the function. If the call may start, it counts as out until Leave or Cancel. If not, at is when to
// ask again without anything else happening; zero if that takes another call's end. reserved is how many calls are
// kept for others, as if they were out.
func (c *Circuit) Enter(now time.Time, reserved int) (p Pass, ok bool, at time.Time) {
	if now.Before(c.quiet) {
		return p, false, c.quiet
	}
	if c.full(c.out + reserved) {
		return p, false, time.Time{}
	}
	switch c.state {
	case Open:
		if now.Before(c.probeAt) {
			return p, false, c.probeAt
		}
		c.state, p.probe = Probing, true
	case Probing:
		return p, false, time.Time{}
	}
	c.out++
	return p, true, time.Time{}
}

func (c *Circuit) full(out int) bool {
	if c.limits.MaxConcurrency > 0 && out >= c.limits.MaxConcurrency {
		return true
	}
	return c.limit > 0 && out >= int(c.limit) && c.state == Closed // a probe is one call, and waits for nobody
}

// Cancel takes an Enter back: the function was not called, or the call says nothing about it (we cancelled it).
func (c *Circuit) Cancel(p Pass) {
	c.out--
	if p.probe && c.state == Probing {
		c.state = Open
	}
}

// Result is how a call ended.
type Result uint8

// The results of calls.
const (
	// Succeeded: the function took the batch, or named the records that it did not.
	Succeeded Result = iota
	// Failed: the function or the way back failed after the event was sent.
	Failed
	// Throttled: the target said «not now».
	Throttled
	// Unreachable: there was no connection.
	Unreachable
	// Refused: the event was too large. The function is there; nothing else is known.
	Refused
)

// Failure is what makes failures alike.
type Failure struct {
	Kind   string
	Status int
}

// Call is a call that has ended.
type Call struct {
	Result Result
	// Failure tells failures apart; of Failed and Unreachable.
	Failure Failure
	// Runs are the records that it carried.
	Runs []record.Run
	// RetryAfter is how long the target asked to be left alone.
	RetryAfter time.Duration
}

// Leave ends a call. It reports whether the failure is an outage's: then the records are not to blame, and are to be
// tried again without an attempt spent; if the event was sent (Failed), in halves, so that a probe finds out whether
// there are records that the function takes. jitter, in [0, 1), spreads probes.
func (c *Circuit) Leave(now time.Time, jitter float64, p Pass, call Call) (outage bool) {
	c.out--
	switch call.Result {
	case Succeeded, Refused:
		c.succeeded(call.Result)
	case Throttled:
		c.throttle(now, call.RetryAfter)
	case Unreachable:
		c.open(now, jitter, p, call)
		return true
	case Failed:
		return c.failed(now, jitter, p, call)
	}
	return false
}

func (c *Circuit) succeeded(r Result) {
	c.close()
	c.evidence.forget()
	if r == Succeeded {
		c.successes++
	}
	if c.limit == 0 {
		return
	}
	// One more at once for each round of calls as many as the limit; none any more beyond twice what was too many.
	if c.limit += 1 / c.limit; c.limit > float64(2*c.peak) {
		c.limit, c.peak = 0, 0
	}
}

func (c *Circuit) close() {
	c.state, c.pause, c.since, c.cause, c.refused = Closed, 0, time.Time{}, Failure{}, false
}

// throttle lowers the limit. A function that throttles is there: that ends an outage.
func (c *Circuit) throttle(now time.Time, retryAfter time.Duration) {
	c.close()
	c.quiet = later(c.quiet, now.Add(retryAfter))
	// Calls that were out together were throttled together: they halve the limit once.
	if now.Sub(c.throttled) < throttleRound {
		return
	}
	c.throttled = now
	if c.limit == 0 {
		c.peak = c.out + 1
		c.limit = float64(c.peak)
	}
	c.limit = max(1, c.limit/2)
}

// throttleRound is how long after a halving further throttles are taken for the same.
const throttleRound = 100 * time.Millisecond

func (c *Circuit) failed(now time.Time, jitter float64, p Pass, call Call) (outage bool) {
	// A probe that was sent has reached the function: if that was all that was wrong, the batch is judged as any other.
	// Else a record that kills the function would be an outage for ever, in which it is tried as a probe.
	if c.state != Closed && !(p.probe && c.refused) {
		c.open(now, jitter, p, call)
		return true
	}
	alike := c.limits.OutageProtection && !c.suspect(call.Runs) && c.evidence.add(call.Failure, call.Runs) >= batchesAlike
	if alike {
		c.open(now, jitter, p, call)
		return true
	}
	c.close()
	return false
}

// batchesAlike is how many different batches must fail alike, with no success between them, to make an outage (product
// contract, «Failure»).
const batchesAlike = 3

// suspect says whether a batch has failed before and the function has taken another since: then it is the batch.
func (c *Circuit) suspect(runs []record.Run) bool {
	for i := range runs {
		if !Suspect(&runs[i], c.successes) {
			return false
		}
	}
	return len(runs) > 0
}

// Suspect says whether a run that fails, when the function has taken so many calls, is to blame itself: it failed
// before, and others were taken since, now or at an earlier failure.
func Suspect(run *record.Run, successes uint64) bool {
	r := run.Retry
	return r != nil && (r.Suspect || r.Successes != 0 && r.Successes != successes+1)
}

// open begins an outage, or prolongs it when the probe failed. What was called before it began and fails now adds
// nothing.
func (c *Circuit) open(now time.Time, jitter float64, p Pass, call Call) {
	switch {
	case c.state == Closed:
		c.since, c.pause = now, probeFirst
	case p.probe:
		c.pause = min(2*c.pause, probeMax)
	default:
		return
	}
	c.cause, c.refused, c.state = call.Failure, call.Result == Unreachable, Open
	c.probeAt = now.Add(c.pause/2 + time.Duration(jitter*float64(c.pause/2)))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Successes is how many calls the function has taken: what a failed run remembers (record.Retry.Successes).
func (c *Circuit) Successes() uint64 { return c.successes }

// State is what the circuit does with calls at the moment.
func (c *Circuit) State() State { return c.state }

// Status describes the circuit.
type Status struct {
	State State
	// Since is when the outage began, and Cause how it shows; zero while there is none.
	Since time.Time
	Cause Failure
	// Until is when a pause ends, zero or past if there is none.
	Until time.Time
	// Out is how many calls are out; Limit how many may be, 0 for any number.
	Out, Limit int
}

// Status returns the circuit as it stands.
func (c *Circuit) Status() Status {
	s := Status{State: c.state, Since: c.since, Cause: c.cause, Until: c.quiet, Out: c.out, Limit: c.limits.MaxConcurrency}
	if c.state == Open {
		s.Until = later(s.Until, c.probeAt)
	}
	if l := int(c.limit); l > 0 && (s.Limit == 0 || l < s.Limit) {
		s.Limit = l
	}
	return s
}
