package scaling

import (
	"fmt"
	"time"
)

// The rule of taking back; see the package comment.
const (
	// trialMin and trialCalls are how long a count must have held, and how many invocations must have ended, before it
	// is judged; it also takes twice the time of an invocation.
	trialMin   = 5 * time.Second
	trialCalls = 20
	// lower is which share of the throughput of fewer pollers counts as lowered; once a step was taken back, the next
	// ones must gain something, or many small ones would lose a lot.
	lower, gain = 0.9, 1.01
	// badFor is how long a count that lowered throughput is kept from: functions change.
	badFor = 10 * time.Minute
)

// trial finds out whether a step up lowered throughput, as it does where what stands behind the function bears only so
// much. It compares the present count with the best of those before it.
type trial struct {
	// The present count: since when, what was settled and ended since then, and the slots' time in use.
	count   int
	since   time.Time
	settled int64
	calls   int64
	busy    float64 // slot-seconds
	last    Reading
	at      time.Time
	// idle says that there was too little work since then, or other work than before, so that nothing can be said.
	idle bool

	// good is the best of the counts before, with what it settled in a second; 0 for none.
	good     int
	goodRate float64
	// bad is the lowest count that was taken back, until badAt is long ago; 0 for none. careful says that one was, and
	// that no step since gained anything: then steps are small, and each is judged before the next.
	bad     int
	badAt   time.Time
	careful bool
}

// see takes in a valid reading; use is that of the interval before it.
func (t *trial) see(at time.Time, r Reading, count int, use float64) {
	if t.bad > 0 && at.Sub(t.badAt) >= badFor {
		t.bad = 0
	}
	dt := at.Sub(t.at)
	if t.count != count {
		t.start(t.at, count) // as the last reading decided
	}
	switch {
	case r.Settled < t.last.Settled, dt > gapMax:
		t.start(at, count)
	case r.Moved, r.Failing, use <= useHigh && !r.Throttled:
		// Too little work, or other work than before, says nothing; what comes now may.
		t.start(at, count)
		t.idle = true
	default:
		t.idle = false
		t.settled += r.Settled - t.last.Settled
		t.calls += r.Calls - t.last.Calls
		t.busy += r.BusySlots * dt.Seconds()
	}
	t.last, t.at = r, at
}

// first takes in a reading that there is nothing to compare with yet.
func (t *trial) first(at time.Time, r Reading, count int) {
	t.start(at, count)
	t.last, t.at = r, at
}

// start begins to measure a count.
func (t *trial) start(at time.Time, count int) {
	t.count, t.since = count, at
	t.settled, t.calls, t.busy, t.idle = 0, 0, 0, false
}

// rate is what the present count settles in a second, where that can be told.
func (t *trial) rate() (perSecond float64, ok bool) {
	seconds := t.at.Sub(t.since).Seconds()
	if t.idle || seconds <= 0 || t.calls < trialCalls {
		return 0, false
	}
	return float64(t.settled) / seconds, true
}

// judged says whether the present count has held long enough to be judged.
func (t *trial) judged() bool {
	held := t.at.Sub(t.since)
	if t.idle || held < trialMin || t.calls < trialCalls {
		return false
	}
	call := time.Duration(t.busy / float64(t.calls) * float64(time.Second))
	return held >= 2*call
}

// back says whether throughput was higher with fewer pollers, with how many, and why.
func (t *trial) back() (count int, why string, ok bool) {
	if t.good == 0 || t.good >= t.count || !t.judged() {
		return 0, "", false
	}
	least := lower
	if t.careful {
		least = gain
	}
	now, _ := t.rate()
	if now >= least*t.goodRate {
		return 0, "", false
	}
	return t.good, fmt.Sprintf("%s settle %s/s, %d settled %s/s: taken back", plural(t.count, "poller"), rate(now), t.good, rate(t.goodRate)), true
}

// took notes that the present count was taken back.
func (t *trial) took(at time.Time) {
	t.bad, t.badAt, t.careful = t.count, at, true
	t.good, t.goodRate = 0, 0 // to be measured anew
}

// up bounds a step up from the present count, and notes what it settles. 0 means no step now, for the reason given.
func (t *trial) up(target int) (bounded int, why string) {
	now, known := t.rate()
	if t.careful {
		if !t.judged() {
			return 0, "the last step is not judged yet"
		}
		if t.good > 0 && t.good < t.count && t.bad == 0 {
			t.careful = false // or it would have been taken back
		} else if t.bad == 0 {
			target = min(target, t.count+max(1, t.count/4))
		}
	}
	if t.bad > t.count {
		if most := t.count + (t.bad-t.count)/2; target > most {
			target = most
		}
		if target <= t.count {
			return 0, fmt.Sprintf("%s settled less", plural(t.bad, "poller"))
		}
	}
	switch {
	case t.judged():
		t.good, t.goodRate = t.count, now
	case known && now > t.goodRate:
		t.good, t.goodRate = t.count, now
	}
	return target, ""
}

// down forgets the counts before: they say nothing of less work.
func (t *trial) down() { t.good, t.goodRate = 0, 0 }
