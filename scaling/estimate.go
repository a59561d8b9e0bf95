package scaling

import (
	"math"
	"time"
)

const (
	// halfLife is after which time a measurement counts half. Long enough that batches that take seconds do not make
	// the measure jump, short enough to follow a function that gets slower.
	halfLife = 15 * time.Second
	// gapMax is the longest pause between readings that still lets one be compared with the last (a suspended machine, a
	// cluster that was away): after a longer one measuring begins anew.
	gapMax = 30 * time.Second
	// useMin is the use below which an interval says nothing about what a poller could settle.
	useMin = 0.02
)

// estimate holds what was measured, as sums in which the past fades.
type estimate struct {
	primed bool // last and at are set
	last   Reading
	at     time.Time

	seconds float64 // seconds measured
	settled float64 // records settled in them
	arrived float64 // records that arrived in them
	// busy is in poller-seconds of full use, and done what was settled during them.
	busy, done float64
	// used is the sum of use × seconds.
	used float64
}

// add takes in a valid reading, and returns the use since the last one. It answers false where there is nothing to
// compare it with yet.
func (e *estimate) add(at time.Time, r Reading, o Options) (use float64, ok bool) {
	last, since := e.last, at.Sub(e.at)
	first := !e.primed
	switch {
	case !first && since <= 0:
		return 0, false
	case !first && (since > gapMax || r.Settled < last.Settled || r.Bytes < last.Bytes):
		*e = estimate{}
		first = true
	}
	e.primed, e.last, e.at = true, r, at
	if first {
		return 0, false
	}

	dt := since.Seconds()
	fade := math.Exp2(-dt / halfLife.Seconds())
	settled := float64(r.Settled - last.Settled)
	busy := o.busyPollers(r, float64(r.Bytes-last.Bytes)/dt)
	use = busy / float64(max(r.Pollers, 1))

	arrived := settled + float64(r.Lag-last.Lag)
	if r.Moved {
		arrived = perSecond(e.arrived, e.seconds) * dt // as before
	}
	e.seconds = e.seconds*fade + dt
	e.settled = e.settled*fade + settled
	e.arrived = e.arrived*fade + arrived
	e.used = e.used*fade + use*dt
	if use >= useMin || settled > 0 {
		e.busy = e.busy*fade + busy*dt
		e.done = e.done*fade + settled
	}
	return use, true
}

// busyPollers is how many pollers' worth of slots, or of byte budget, was in use: whichever is more.
func (o Options) busyPollers(r Reading, bytesPerSecond float64) float64 {
	busy := r.BusySlots / float64(o.SlotsPerPoller)
	if o.BytesPerSecond > 0 {
		busy = max(busy, bytesPerSecond/float64(o.BytesPerSecond))
	}
	return busy
}

// perPoller is what one fully used poller settles in a second; 0 while nothing was settled.
func (e *estimate) perPoller() float64 {
	if e.busy <= 0 || e.done < 1 {
		return 0
	}
	return e.done / e.busy
}

// use is the use of the last half-life or so.
func (e *estimate) use() float64 { return perSecond(e.used, e.seconds) }

func (e *estimate) settledPerSecond() float64 { return perSecond(e.settled, e.seconds) }

// arrivingPerSecond is never negative: lag is read before and after commits, so that single differences can be.
func (e *estimate) arrivingPerSecond() float64 { return max(0, perSecond(e.arrived, e.seconds)) }

func perSecond(n, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return n / seconds
}
