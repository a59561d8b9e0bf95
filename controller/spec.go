package controller

import (
	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/scaling"
)

func limitsOf(m *mapping.Mapping) inflight.Limits {
	return inflight.Limits{BatchRecords: m.BatchSize, BatchBytes: m.MaximumBatchBytes, BatchingWindow: m.BatchingWindow}
}

func sizesOf(e poller.Encoder) inflight.Sizes {
	return inflight.Sizes{Event: e.Overhead(), Run: e.RunOverhead, Record: e.RecordSize}
}

func policyOf(m *mapping.Mapping) *failure.Policy {
	return &failure.Policy{
		MaximumRetryAttempts: m.MaximumRetryAttempts, MaximumRecordAge: m.MaximumRecordAge,
		Bisect: m.BisectBatchOnFunctionError, Destination: !m.OnFailure.IsZero(),
		InitialBackoff: m.Retry.InitialBackoff, MaximumBackoff: m.Retry.MaximumBackoff,
	}
}

func scalingOf(m *mapping.Mapping) scaling.Options {
	return scaling.Options{
		Minimum: m.MinimumPollers, Maximum: m.MaximumPollers,
		SlotsPerPoller: m.PollerConcurrency, BytesPerSecond: m.PollerThroughput,
		TargetDrainTime: m.TargetDrainTime, PollerPerPartition: m.ConsumptionMode == mapping.Stream,
	}
}
