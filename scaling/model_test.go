package scaling

import (
	"math"
	"time"
)

// model is a mapping in numbers: what arrives, what a slot can do, what a byte budget lets through.
type model struct {
	now        time.Time
	arrive     float64 // records per second
	slot       float64 // records per second that one slot settles; 0 is a function that hangs
	size       float64 // bytes of a record
	partitions int
	working    int // partitions with work; 0 for all
	// capacity is how many records per second the function takes in all, and knee the callers above which that falls,
	// in proportion; 0 for no such bounds.
	capacity, knee float64
	failing        bool
	idle           bool // the pollers hold no slots (backoff, rebalance)
	invalid        string

	lag, settled, bytes float64
}

// second lets one second pass with so many pollers, and reads.
func (m *model) second(pollers int, o Options) Reading {
	m.now = m.now.Add(time.Second)
	m.lag += m.arrive
	scopes := m.partitions
	if m.working > 0 {
		scopes = m.working
	}
	if m.lag < 1 {
		scopes = 0
	}
	slots := math.Min(float64(pollers*o.SlotsPerPoller), float64(scopes))
	bySlots := slots * m.slot
	crowded := m.capacity > 0 && bySlots > m.capacity
	if m.capacity > 0 {
		bySlots = math.Min(bySlots, m.capacity)
	}
	if m.knee > 0 && slots > m.knee {
		bySlots = m.capacity * m.knee / slots
		crowded = true
	}
	byBytes := math.Inf(1)
	if o.BytesPerSecond > 0 {
		byBytes = float64(pollers) * float64(o.BytesPerSecond) / m.size
	}
	done := math.Min(m.lag, math.Min(bySlots, byBytes))
	busy := slots
	if m.slot > 0 && !(crowded && done >= bySlots) {
		busy = done / m.slot
	}
	if m.idle || m.failing {
		done, busy = 0, 0
	}
	throttled := byBytes < bySlots && m.lag > byBytes
	m.lag -= done
	m.settled += done
	m.bytes += done * m.size
	return Reading{
		Invalid: m.invalid, Lag: int64(m.lag), Settled: int64(m.settled), Bytes: int64(m.bytes), Pollers: pollers,
		Calls:     int64(m.settled),
		BusySlots: busy, Throttled: throttled, Failing: m.failing, Partitions: m.partitions, Scopes: scopes,
	}
}
