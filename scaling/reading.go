package scaling

import "time"

// Reading is how a mapping stands at one moment, in one process.
type Reading struct {
	// Invalid says why the figures cannot be trusted («lag: ... timed out»); empty if they can. Nothing is decided on
	// an invalid reading but to keep the bounds.
	Invalid string

	// Lag is how many records are behind, over the partitions that are read here, those in flight included.
	Lag int64
	// InFlight is how many of them are out with the function.
	InFlight int64
	// Settled is how many records were settled since the mapping started, Bytes how many bytes were charged to the
	// pollers' budgets. Both only grow; a smaller one means a new start.
	Settled, Bytes int64

	// Calls is how many invocations have ended since the mapping started; it only grows.
	Calls int64

	// Pollers is how many run.
	Pollers int
	// BusySlots is how many invocation slots were in use since the last reading, on average.
	BusySlots float64
	// Throttled says that a poller waited for its byte budget since the last reading.
	Throttled bool
	// Failing says that most invocations since the last reading failed: more of them would not help.
	Failing bool

	// Moved says that other partitions are read here than at the last reading: their lag is no arrival.
	Moved bool
	// Partitions is how many partitions the mapping reads here; 0 while unknown.
	Partitions int
	// Scopes is how many ordering scopes have work (Stream: partitions), which is how many invocations can be useful at
	// once; 0 where there is no such bound or it is unknown.
	Scopes int
}

// Decision is how many pollers a mapping should have, and why.
type Decision struct {
	At time.Time
	// From and To are numbers of pollers; they are equal where nothing changes.
	From, To int
	// Reason is for people, with figures.
	Reason string

	// What it was made from: the figures as smoothed by the Scaler, in records per second.
	Reading Reading
	// ArrivingPerSecond and SettledPerSecond are over all pollers.
	ArrivingPerSecond, SettledPerSecond float64
	// PerPoller is what one fully used poller settles; 0 before it could be measured.
	PerPoller float64
	// Use is the larger of the shares of invocation slots and of byte budgets in use; over 1 only by debt.
	Use float64
}

// Changed says whether the count changes.
func (d Decision) Changed() bool { return d.From != d.To }

// Options are the bounds and the aim of one mapping.
type Options struct {
	// Minimum and Maximum bound the count; 1 <= Minimum <= Maximum.
	Minimum, Maximum int
	// SlotsPerPoller is how many invocations one poller makes at once (Stream: 5).
	SlotsPerPoller int
	// BytesPerSecond is the byte budget of one poller; 0 means unlimited.
	BytesPerSecond int64
	// TargetDrainTime is within which time lag should be worked off; 0 means a minute.
	TargetDrainTime time.Duration
	// PollerPerPartition says that pollers beyond the number of partitions are of no use (Stream).
	PollerPerPartition bool
}

// AWS's bounds of a mapping without provisionedPollerConfig, and the budgets of its pollers (facts of the Lambda
// developer guide; product contract, «Scaling»). MB is 10^6.
const (
	OnDemandMinimum, OnDemandMaximum = 1, 5
	OnDemandBytesPerSecond           = 1_000_000
	ProvisionedBytesPerSecond        = 5_000_000
	// DefaultTargetDrainTime is within which time lag should be worked off.
	DefaultTargetDrainTime = time.Minute
)
