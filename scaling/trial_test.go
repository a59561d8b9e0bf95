package scaling

import (
	"testing"
	"time"
)

// Fault 93: scaling out lowered throughput, because what stands behind the function could not take it. It takes 100
// records a second from 8 callers, and less from more.
func TestAScaleOutThatLowersThroughputIsTakenBack(t *testing.T) {
	for _, tc := range []struct {
		name    string
		o       Options
		most    int     // callers at last
		settled float64 // a second, at last
	}{
		{"callers one by one", Options{Minimum: 1, Maximum: 100, SlotsPerPoller: 1}, 10, 90},
		{"pollers of two", Options{Minimum: 1, Maximum: 50, SlotsPerPoller: 2}, 10, 90},
		{"a minimum that is too many already", Options{Minimum: 16, Maximum: 100, SlotsPerPoller: 1}, 16, 50},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := &model{now: start, arrive: 500, slot: 12.5, capacity: 100, knee: 8, size: 100, partitions: 1000, lag: 1e6}
			s := New(tc.o)
			changes := 0
			run := func(d time.Duration) (perSecond float64, most int) {
				began, from := m.now, m.settled
				for m.now.Sub(began) < d {
					if decision := s.Step(m.now, m.second(s.Count(), tc.o)); decision.Changed() {
						changes++
						t.Logf("%s: %d to %d: %s", m.now.Sub(start), decision.From, decision.To, decision.Reason)
					}
					most = max(most, s.Count()*tc.o.SlotsPerPoller)
				}
				return (m.settled - from) / d.Seconds(), most
			}
			run(2 * time.Minute)
			changes = 0
			perSecond, most := run(5 * time.Minute)
			if perSecond < tc.settled || most > tc.most || changes > 2 {
				t.Errorf("%.0f records/s with at most %d callers and %d changes; want %.0f/s with %d", perSecond, most, changes, tc.settled, tc.most)
			}
			// It is tried again now and then, for the function may have become better, and that costs little.
			if perSecond, _ := run(time.Hour); perSecond < 0.95*tc.settled {
				t.Errorf("%.0f records/s over an hour", perSecond)
			}
			m.capacity, m.knee = 1e6, 0
			run(30 * time.Minute)
			if s.Count() != tc.o.Maximum && m.lag > 0 {
				t.Errorf("%d pollers half an hour after the function became better, with %.0f records behind", s.Count(), m.lag)
			}
		})
	}
}

// Partitions that come from another process bring their lag: that is no rate of arrival.
func TestPartitionsThatMoveAreNoArrival(t *testing.T) {
	s := New(Options{Minimum: 1, Maximum: 100, SlotsPerPoller: 5})
	r := Reading{Lag: 100, Pollers: 1, BusySlots: 2, Partitions: 6, Scopes: 6}
	now := start
	step := func() Decision {
		now = now.Add(time.Second)
		r.Settled += 100
		return s.Step(now, r)
	}
	for range 30 {
		step()
	}
	r.Lag, r.Moved, r.Partitions = 1_000_000, true, 12
	if d := step(); d.ArrivingPerSecond > 110 {
		t.Errorf("%.0f/s arriving after partitions came", d.ArrivingPerSecond)
	}
	r.Lag, r.Moved, r.Partitions = 100, true, 6
	if d := step(); d.ArrivingPerSecond < 90 || d.ArrivingPerSecond > 110 {
		t.Errorf("%.0f/s arriving after they went", d.ArrivingPerSecond)
	}
}
