package metric

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/sluicehq/sluice/record"
)

// PartitionsMax bounds the partitions of one mapping that have series of their own, for lag and for stalls each. Of
// more, those with the largest lag (or the longest stall) are shown, and sluice_partitions_not_shown says how many are
// missing; sums and maxima always cover all.
const PartitionsMax = 2000

// PartitionLag is how far one partition is behind.
type PartitionLag struct {
	// The partition that is behind.
	record.TopicPartition
	// Lag is in records, at least 0.
	Lag int64
}

// PartitionStall is how long one partition has made no progress while it had lag; 0 for one that moves or is idle.
type PartitionStall struct {
	// The partition that stands still.
	record.TopicPartition
	// For is how long.
	For time.Duration
}

// partitions holds the series of single partitions. Both lists are replaced as a whole, so that a partition that is no
// longer owned, or whose topic is gone, leaves no series behind.
type partitions struct {
	mu               sync.Mutex
	known            bool
	sum, max         int64
	lag              []PartitionLag
	stalls           []PartitionStall
	hidden, unstated int
}

// SetLag replaces the lag of all partitions of the mapping. It keeps no reference to the slice.
func (m *Mapping) SetLag(all []PartitionLag) {
	var sum, most int64
	for _, l := range all {
		sum += l.Lag
		most = max(most, l.Lag)
	}
	shown, hidden := largest(all, func(l PartitionLag) int64 { return l.Lag })

	p := &m.partitions
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.sum, p.max, p.lag, p.hidden = true, sum, most, shown, hidden
}

// SetLagUnknown says that the lag could not be read: its series vanish, rather than tell an old number or 0.
func (m *Mapping) SetLagUnknown() {
	p := &m.partitions
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.sum, p.max, p.lag, p.hidden = false, 0, 0, nil, 0
}

// SetStalled replaces the stalls of all partitions that this process owns, those that move with 0. It keeps no reference
// to the slice.
func (m *Mapping) SetStalled(owned []PartitionStall) {
	shown, hidden := largest(owned, func(s PartitionStall) int64 { return int64(s.For) })
	p := &m.partitions
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalls, p.unstated = shown, hidden
}

// largest copies all, or where that is too many the PartitionsMax largest, and says how many it left out.
func largest[T any](all []T, size func(T) int64) (shown []T, hidden int) {
	shown = slices.Clone(all)
	if len(shown) <= PartitionsMax {
		return shown, 0
	}
	slices.SortStableFunc(shown, func(a, b T) int { return cmp.Compare(size(b), size(a)) })
	return slices.Clone(shown[:PartitionsMax]), len(shown) - PartitionsMax
}
