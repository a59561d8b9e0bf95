package scaling

import (
	"math"
	"time"
)

// The thresholds of the rule; see the package comment.
const (
	useHigh   = 0.8
	useTarget = 0.7
	useLow    = 0.6
	// lowFor is how long use must be low before a step down, and the pause between two.
	lowFor = time.Minute
	// growth bounds a step up: the first seconds' measure is rough, and a second later there is a better one.
	growth = 2
)

// Scaler decides for one mapping in one process. It is not safe for concurrent use.
type Scaler struct {
	o        Options
	count    int
	estimate estimate
	trial    trial
	// lowSince is since when use has been low, or the last step down; zero while it is not low.
	lowSince time.Time
}

// New returns a Scaler that starts with the minimum.
func New(o Options) *Scaler {
	s := &Scaler{}
	s.SetOptions(o)
	s.count = s.o.Minimum
	return s
}

// SetOptions changes bounds and aim; the next Step keeps them. What was measured stays.
func (s *Scaler) SetOptions(o Options) {
	o.Minimum = max(o.Minimum, 1)
	o.Maximum = max(o.Maximum, o.Minimum)
	o.SlotsPerPoller = max(o.SlotsPerPoller, 1)
	if o.TargetDrainTime <= 0 {
		o.TargetDrainTime = DefaultTargetDrainTime
	}
	s.o = o
}

// Count is the count that the last Step decided, or the minimum.
func (s *Scaler) Count() int { return s.count }

// Step takes one reading in and says how many pollers there should be from now on. It is called about once a second;
// two readings at the same time, or back in time, change nothing.
func (s *Scaler) Step(at time.Time, r Reading) Decision {
	d := Decision{At: at, From: s.count, To: s.count, Reading: r}
	if r.Invalid != "" {
		s.lowSince = time.Time{}
		d.Reason = "unchanged: " + r.Invalid
		s.figures(&d)
	} else if use, ok := s.estimate.add(at, r, s.o); ok {
		s.trial.see(at, r, s.count, use)
		s.figures(&d)
		s.decide(&d, use)
	} else {
		s.lowSince = time.Time{}
		s.trial.first(at, r, s.count)
		d.Reason = "unchanged: first reading"
		s.figures(&d)
	}
	s.bound(&d)
	s.count = d.To
	return d
}

// figures copies what is measured into a decision.
func (s *Scaler) figures(d *Decision) {
	d.ArrivingPerSecond = s.estimate.arrivingPerSecond()
	d.SettledPerSecond = s.estimate.settledPerSecond()
	d.PerPoller = s.estimate.perPoller()
	d.Use = s.estimate.use()
}

// decide sets To and Reason, without regard to the bounds. Use is that of the last interval alone: a step up need not
// wait until the smoothed one has followed.
func (s *Scaler) decide(d *Decision, use float64) {
	w := s.want(d)
	limiting := d.Reading.Throttled || use > useHigh
	if count, why, ok := s.trial.back(); ok {
		s.lowSince = time.Time{}
		d.To, d.Reason = count, why
		s.trial.took(d.At)
		return
	}
	switch {
	case w.count > s.count && limiting && !d.Reading.Failing:
		s.lowSince = time.Time{}
		s.up(d, w)
	case d.Use >= useLow:
		s.lowSince = time.Time{}
		d.Reason = hold(d, w)
	case s.lowSince.IsZero():
		s.lowSince = d.At
		d.Reason = hold(d, w)
	case d.At.Sub(s.lowSince) < lowFor:
		d.Reason = hold(d, w)
	default:
		s.down(d, w)
	}
}

// want is the count that the mapping needs, and which of the two aims asks for it.
type want struct {
	count int
	aim   aim
}

type aim int

const (
	forUse     aim = iota // to take what arrives at 80 % use
	forDrain              // to drain the lag in time
	unmeasured            // nothing was settled yet
)

func (s *Scaler) want(d *Decision) want {
	behind := float64(max(d.Reading.Lag-d.Reading.InFlight, 0))
	if d.PerPoller == 0 {
		if behind > 0 {
			return want{count: s.count * growth, aim: unmeasured}
		}
		return want{count: s.count, aim: forUse}
	}
	keepUp := d.ArrivingPerSecond / (useHigh * d.PerPoller)
	drain := (d.ArrivingPerSecond + behind/s.o.TargetDrainTime.Seconds()) / d.PerPoller
	if drain > keepUp {
		return want{count: whole(drain), aim: forDrain}
	}
	return want{count: whole(keepUp), aim: forUse}
}

// whole rounds up to a count; the small slack keeps a rounding error from asking for one more.
func whole(pollers float64) int {
	const slack = 1e-6
	return int(math.Ceil(min(pollers, math.MaxInt32) - slack))
}

// up raises the count: to what is wanted and can be of use, at most doubling.
func (s *Scaler) up(d *Decision, w want) {
	d.Reason = up(d, w, s.o)
	most, why := s.most(d.Reading)
	target := w.count
	if target > most {
		target = max(most, s.count)
		d.Reason += "; " + why
	}
	to := min(target, s.count*growth)
	if to < target {
		d.Reason += "; doubling"
	}
	if to == s.count {
		return
	}
	bounded, why := s.trial.up(to)
	switch {
	case bounded == 0:
		d.Reason += "; unchanged: " + why
	case bounded < to:
		d.To = bounded
		d.Reason += "; not further at once, for more settled less"
	default:
		d.To = to
	}
}

// most is the highest count that is allowed and of use, with the reason.
func (s *Scaler) most(r Reading) (int, string) {
	_, most, _, why := s.bounds(r)
	if useful := s.useful(r); useful > 0 && useful < most {
		return useful, scopesBound(r, useful)
	}
	return most, why
}

// useful is how many pollers it takes to hold every invocation that can be made at once; 0 for no such bound. Where byte
// budgets hold the pollers back there is none: each further poller brings another budget.
func (s *Scaler) useful(r Reading) int {
	if r.Scopes <= 0 || r.Throttled {
		return 0
	}
	return (r.Scopes + s.o.SlotsPerPoller - 1) / s.o.SlotsPerPoller
}

// down takes half of the surplus away, the odd one included.
func (s *Scaler) down(d *Decision, w want) {
	enough := max(whole(float64(s.count)*d.Use/useTarget), s.o.Minimum)
	surplus := s.count - enough
	if surplus <= 0 {
		d.Reason = hold(d, w)
		return
	}
	d.To = s.count - (surplus+1)/2
	d.Reason = down(d, enough, d.At.Sub(s.lowSince))
	s.trial.down()
	s.lowSince = d.At
}

// bound keeps a decision between the bounds, which may have moved, and says so where they decide.
func (s *Scaler) bound(d *Decision) {
	low, high, lowWhy, highWhy := s.bounds(d.Reading)
	switch {
	case d.To < low:
		d.To, d.Reason = low, lowWhy
	case d.To > high:
		d.To, d.Reason = high, highWhy
	}
}
