package controller

import (
	"fmt"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/filter"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/scaling"
)

func limitsOf(m *mapping.Mapping) inflight.Limits {
	return inflight.Limits{BatchRecords: m.BatchSize, BatchBytes: m.MaximumBatchBytes, BatchingWindow: m.BatchingWindow}
}

// filterOf compiles a mapping's patterns, which were checked when it was read.
func filterOf(m *mapping.Mapping) *filter.Filter {
	if len(m.Filters) == 0 {
		return nil
	}
	f, err := filter.Rules{Mismatch: m.FilterMismatch.Rule()}.Compile(m.Filters...)
	if err != nil {
		panic(fmt.Sprintf("controller: %s: %v", m.Name, err))
	}
	return f
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
