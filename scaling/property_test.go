package scaling

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// world makes a random mapping.
func world(r *rand.Rand) (*model, Options) {
	o := Options{
		Minimum: 1 + r.IntN(5), SlotsPerPoller: 1 + r.IntN(10), PollerPerPartition: r.IntN(2) == 0,
		TargetDrainTime: time.Duration(10+r.IntN(100)) * time.Second,
	}
	o.Maximum = o.Minimum + r.IntN(100)
	if r.IntN(2) == 0 {
		o.BytesPerSecond = 1_000_000 * int64(1+r.IntN(5))
	}
	m := &model{
		now: start, slot: math.Exp(r.Float64() * 8), size: float64(10 + r.IntN(10_000)), partitions: 1 + r.IntN(300),
		lag: float64(r.IntN(1_000_000)),
	}
	m.arrive = m.slot * r.Float64() * 50
	return m, o
}

func TestUnderASteadyLoadTheCountComesToRest(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 4))
		m, o := world(r)
		if seed%2 == 0 { // a load that a few pollers hold, close to where one more or less would do
			o.Minimum, m.partitions = 1, 1000
			m.arrive = m.slot * float64(o.SlotsPerPoller) * 4 * r.Float64()
		}
		s := New(o)
		for range 1800 { // long enough to drain, or to show that it cannot
			s.Step(m.now, m.second(s.Count(), o))
		}
		// Downwards may still come, as a drain ends; but never down and up again.
		ups := 0
		for range 1800 {
			d := s.Step(m.now, noisy(r, m.second(s.Count(), o)))
			if d.To > d.From {
				ups++
			}
			if d.To < o.Minimum && d.To < m.partitions || d.To > o.Maximum {
				t.Fatalf("seed %d: %d pollers, bounds %d to %d, %d partitions", seed, d.To, o.Minimum, o.Maximum, m.partitions)
			}
		}
		if ups > 1 {
			t.Errorf("seed %d: up %d times in half an hour of steady load (%+v)", seed, ups, o)
		}
	}
}

// noisy shakes a reading as the world does.
func noisy(r *rand.Rand, reading Reading) Reading {
	reading.BusySlots *= 0.95 + r.Float64()*0.1
	return reading
}

func TestAHeavyBacklogReachesTheMaximumInSeconds(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		m, o := world(r)
		o.BytesPerSecond = 0
		m.lag, m.partitions = 1e12, 100_000
		s := New(o)
		for range 10 { // doubling: 1 to 105 in seven steps, one reading before them
			s.Step(m.now, m.second(s.Count(), o))
		}
		if s.Count() != o.Maximum {
			t.Errorf("seed %d: %d pollers after 10 s, maximum is %d", seed, s.Count(), o.Maximum)
		}
	}
}

func TestALoadThatFitsIsTakenInTime(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 6))
		m, o := world(r)
		o.BytesPerSecond, m.partitions = 0, 100_000
		capacity := float64(o.Maximum*o.SlotsPerPoller) * m.slot
		m.arrive = capacity * 0.3 * r.Float64()
		m.lag = capacity * 0.5 * o.TargetDrainTime.Seconds() * r.Float64()
		s := New(o)
		// Twice the target: it takes seconds to see, and the target moves on with what is left.
		limit := 2*o.TargetDrainTime + 30*time.Second
		for m.now.Sub(start) < limit {
			s.Step(m.now, m.second(s.Count(), o))
		}
		if left := m.lag / capacity; left > 0.1*o.TargetDrainTime.Seconds() {
			t.Errorf("seed %d: after %s %.0f records are left, %.1f s of full work", seed, limit, m.lag, left)
		}
	}
}

func TestRandomReadingsNeverLeaveTheBoundsOrBreakTheFigures(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		_, o := world(r)
		s := New(o)
		now := start
		for range 500 {
			now = now.Add(time.Duration(r.Int64N(int64(3*time.Second))) - 500*time.Millisecond)
			reading := Reading{
				Lag: r.Int64N(1 << (1 + r.IntN(62))), Settled: r.Int64N(1 << (1 + r.IntN(62))), Bytes: r.Int64N(1 << 40),
				InFlight: r.Int64N(1 << 20), Pollers: r.IntN(100), BusySlots: r.Float64() * 1000, Throttled: r.IntN(2) == 0,
				Failing: r.IntN(4) == 0, Partitions: r.IntN(50), Scopes: r.IntN(50),
			}
			if r.IntN(5) == 0 {
				reading.Invalid = "no lag"
			}
			before := s.Count()
			d := s.Step(now, reading)
			high := o.Maximum
			if o.PollerPerPartition && reading.Partitions > 0 {
				high = min(high, reading.Partitions)
			}
			low := min(o.Minimum, high)
			switch {
			case d.To < low || d.To > high || d.To != s.Count() || d.From != before:
				t.Fatalf("seed %d: %+v, bounds %d to %d", seed, d, low, high)
			case d.To > max(before*growth, low):
				t.Fatalf("seed %d: %d to %d is more than doubling", seed, before, d.To)
			case reading.Invalid != "" && d.To != max(min(before, high), low):
				t.Fatalf("seed %d: decided on an invalid reading: %+v", seed, d)
			case d.Reason == "":
				t.Fatalf("seed %d: no reason", seed)
			}
			for _, f := range []float64{d.ArrivingPerSecond, d.SettledPerSecond, d.PerPoller, d.Use} {
				if math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
					t.Fatalf("seed %d: %+v", seed, d)
				}
			}
		}
	}
}

func BenchmarkStep(b *testing.B) {
	s := New(Options{Minimum: 1, Maximum: 10, SlotsPerPoller: 5})
	r := Reading{Lag: 1000, Pollers: 1, BusySlots: 3, Partitions: 12, Scopes: 12}
	now := start
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Second)
		r.Settled += 100
		s.Step(now, r)
	}
}
