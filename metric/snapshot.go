package metric

import "time"

// Snapshot is what a mapping has counted since it started here, as plain numbers. The fields are read one after the
// other while counting goes on, so they need not agree to the record.
type Snapshot struct {
	// Records, as in Mapping.
	Polled, FilteredOut, Invoked, FailedInvoke, Dropped, OnFailureDestinationDelivered, Committed int64
	Retried, Redelivered, LostToRetention                                                         int64
	// Errors of all kinds.
	PollingErrors, CommitErrors, InvokeErrors, OnFailureDestinationDeliveryErrors int64
	// Invocations, and bytes.
	Batches, AcquiredBytes, RefetchedBytes int64
	// Levels at this moment.
	InFlightRecords, InFlightBatches, BufferedRecords, BufferedBytes int64
	// ThrottledTime is summed over the pollers.
	ThrottledTime time.Duration
}

// Snapshot reads the counters.
func (m *Mapping) Snapshot() Snapshot {
	return Snapshot{
		Polled: m.Polled.Value(), FilteredOut: m.FilteredOut.Value(), Invoked: m.Invoked.Value(),
		FailedInvoke: m.FailedInvoke.Value(), Dropped: m.Dropped.Value(),
		OnFailureDestinationDelivered: m.OnFailureDestinationDelivered.Value(), Committed: m.Committed.Value(),
		Retried: m.Retried.Value(), Redelivered: m.Redelivered.Value(), LostToRetention: m.LostToRetention.Value(),

		PollingErrors: m.PollingErrors.Value(), CommitErrors: m.CommitErrors.Value(), InvokeErrors: m.InvokeErrors.Value(),
		OnFailureDestinationDeliveryErrors: m.OnFailureDestinationDeliveryErrors.Value(),

		Batches: m.Batches.Value(), AcquiredBytes: m.AcquiredBytes.Value(), RefetchedBytes: m.RefetchedBytes.Value(),

		InFlightRecords: m.InFlightRecords.Value(), InFlightBatches: m.InFlightBatches.Value(),
		BufferedRecords: m.BufferedRecords.Value(), BufferedBytes: m.BufferedBytes.Value(),
		ThrottledTime: m.ThrottledTime.Value(),
	}
}
