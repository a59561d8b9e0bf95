package metric

import "fmt"

// The kinds of a metric, as Prometheus names them.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

const buildInfoHelp = "Always 1; the labels tell version and commit of the binary."

// entry describes one metric of a mapping. Exactly one of the value functions is set, except for histograms and for the
// series of partitions, which collect.go sends itself.
type entry struct {
	name string // without the namespace
	kind string
	// cloudWatch is the name of the same number in the namespace AWS/Lambda; empty for what is ours.
	cloudWatch string
	// labels beyond "mapping"
	labels []string
	help   string

	count  func(*Mapping) *Counter
	level  func(*Mapping) *Gauge
	word   func(*Mapping) *Word
	errors func(*Mapping) *ErrorCounter
	time   func(*Mapping) *Elapsed
	topics func(*Mapping) *TopicCounter
}

// catalog is every metric of a mapping, in the order of docs/METRICS.md.
var catalog = []entry{
	{
		name: "polled_event_count_total", kind: counter, cloudWatch: "PolledEventCount",
		help: "Records fetched from Kafka.", count: func(m *Mapping) *Counter { return &m.Polled },
	},
	{
		name: "filtered_out_event_count_total", kind: counter, cloudWatch: "FilteredOutEventCount",
		help: "Records that no filter pattern matched.", count: func(m *Mapping) *Counter { return &m.FilteredOut },
	},
	{
		name: "invoked_event_count_total", kind: counter, cloudWatch: "InvokedEventCount",
		help: "Records handed to the function, again on each retry.", count: func(m *Mapping) *Counter { return &m.Invoked },
	},
	{
		name: "failed_invoke_event_count_total", kind: counter, cloudWatch: "FailedInvokeEventCount",
		help: "Records in a failed invocation, or named as failed by the function.", count: func(m *Mapping) *Counter { return &m.FailedInvoke },
	},
	{
		name: "dropped_event_count_total", kind: counter, cloudWatch: "DroppedEventCount",
		help: "Records given up by the mapping's own limits that no destination holds.", count: func(m *Mapping) *Counter { return &m.Dropped },
	},
	{
		name: "on_failure_destination_delivered_event_count_total", kind: counter, cloudWatch: "OnFailureDestinationDeliveredEventCount",
		help:  "Records that the on-failure destination confirmed.",
		count: func(m *Mapping) *Counter { return &m.OnFailureDestinationDelivered },
	},
	{
		name: "committed_event_count_total", kind: counter, cloudWatch: "CommittedEventCount",
		help: "Records whose offsets are committed.", count: func(m *Mapping) *Counter { return &m.Committed },
	},
	{
		name: "retried_event_count_total", kind: counter,
		help: "Records handed to the function again after a failure.", count: func(m *Mapping) *Counter { return &m.Retried },
	},
	{
		name: "redelivered_event_count_total", kind: counter,
		help:  "Records fetched again that this process had before (revoked past the drain deadline, lost commit).",
		count: func(m *Mapping) *Counter { return &m.Redelivered },
	},

	{
		name: "lost_to_retention_event_count_total", kind: counter, labels: []string{"topic"},
		help:   "Offsets that the broker had deleted before they were read.",
		topics: func(m *Mapping) *TopicCounter { return &m.LostToRetention },
	},

	{
		name: "polling_error_count_total", kind: counter, cloudWatch: "PollingErrorCount", labels: []string{"kind"},
		help: "Failed polls, by the name of the Kafka error.", errors: func(m *Mapping) *ErrorCounter { return &m.PollingErrors },
	},
	{
		name: "invoke_error_count_total", kind: counter, cloudWatch: "InvokeErrorCount", labels: []string{"kind"},
		help: "Failed invocations, by kind.", errors: func(m *Mapping) *ErrorCounter { return &m.InvokeErrors },
	},
	{
		name: "on_failure_destination_delivery_error_count_total", kind: counter, cloudWatch: "OnFailureDestinationDeliveryErrorCount",
		labels: []string{"kind"}, help: "Failed deliveries to the on-failure destination, by kind.",
		errors: func(m *Mapping) *ErrorCounter { return &m.OnFailureDestinationDeliveryErrors },
	},
	{
		name: "commit_error_count_total", kind: counter, cloudWatch: "CommitErrorCount", labels: []string{"kind"},
		help: "Failed commits, by the name of the Kafka error.", errors: func(m *Mapping) *ErrorCounter { return &m.CommitErrors },
	},

	{
		name: "batches_total", kind: counter,
		help: "Invocations, successful or not.", count: func(m *Mapping) *Counter { return &m.Batches },
	},
	{
		name: "acquired_bytes_total", kind: counter, cloudWatch: "EventPollerThroughputInBytes",
		help: "Bytes charged to the pollers' budgets: key, value and headers.", count: func(m *Mapping) *Counter { return &m.AcquiredBytes },
	},
	{
		name: "refetched_bytes_total", kind: counter,
		help: "Bytes fetched, thrown away and fetched again.", count: func(m *Mapping) *Counter { return &m.RefetchedBytes },
	},
	{name: "invocation_duration_seconds", kind: histogram, help: "How long invocations took."},
	{name: "batch_records", kind: histogram, help: "Records of a batch."},
	{name: "batch_bytes", kind: histogram, help: "Bytes of a batch's event document."},
	{name: "commit_duration_seconds", kind: histogram, help: "How long commits took."},

	{
		name: "pollers", kind: gauge, cloudWatch: "ProvisionedPollers",
		help: "Pollers that run.", level: func(m *Mapping) *Gauge { return &m.Pollers },
	},
	{
		name: "pollers_minimum", kind: gauge,
		help: "The fewest pollers the mapping may have.", level: func(m *Mapping) *Gauge { return &m.PollersMinimum },
	},
	{
		name: "pollers_maximum", kind: gauge,
		help: "The most pollers the mapping may have.", level: func(m *Mapping) *Gauge { return &m.PollersMaximum },
	},
	{
		name: "pollers_wanted", kind: gauge,
		help: "Pollers that the last scaling decision asked for.", level: func(m *Mapping) *Gauge { return &m.PollersWanted },
	},
	{
		name: "in_flight_records", kind: gauge,
		help: "Records out with the function.", level: func(m *Mapping) *Gauge { return &m.InFlightRecords },
	},
	{
		name: "in_flight_batches", kind: gauge,
		help: "Invocations under way.", level: func(m *Mapping) *Gauge { return &m.InFlightBatches },
	},
	{
		name: "buffered_records", kind: gauge,
		help: "Records fetched and not settled.", level: func(m *Mapping) *Gauge { return &m.BufferedRecords },
	},
	{
		name: "buffered_bytes", kind: gauge,
		help: "Bytes of the records fetched and not settled.", level: func(m *Mapping) *Gauge { return &m.BufferedBytes },
	},
	{
		name: "group_protocol_info", kind: gauge, labels: []string{"protocol"},
		help: "Always 1; the label tells how the consumer group shares its partitions: classic, or consumer (KIP-848).",
		word: func(m *Mapping) *Word { return &m.GroupProtocol },
	},
	{
		name: "ready", kind: gauge,
		help: "1 while the mapping is ready, else 0.", level: func(m *Mapping) *Gauge { return &m.Ready },
	},
	{
		name: "throttled", kind: gauge,
		help: "1 while a poller is held back by pollerLimits, else 0.", level: func(m *Mapping) *Gauge { return &m.Throttled },
	},
	{
		name: "throttled_seconds_total", kind: counter,
		help: "Time that pollers were held back by pollerLimits, summed over pollers.", time: func(m *Mapping) *Elapsed { return &m.ThrottledTime },
	},

	{
		name: "sum_offset_lag", kind: gauge, cloudWatch: "SumOffsetLag",
		help: "Records behind, over all partitions; absent while unknown.",
	},
	{
		name: "max_offset_lag", kind: gauge, cloudWatch: "MaxOffsetLag",
		help: "Records behind in the partition that is furthest behind; absent while unknown.",
	},
	{
		name: "offset_lag", kind: gauge, cloudWatch: "OffsetLag", labels: []string{"topic", "partition"},
		help: fmt.Sprintf("Records behind, by partition, for the %d partitions furthest behind; absent while unknown.", PartitionsMax),
	},
	{
		name: "partition_stalled_seconds", kind: gauge, labels: []string{"topic", "partition"},
		help: fmt.Sprintf("Seconds without progress while there is lag, by partition owned by this process; at most %d partitions.", PartitionsMax),
	},
	{
		name: "partitions_not_shown", kind: gauge, labels: []string{"series"},
		help: fmt.Sprintf("Partitions beyond the %d that have series of their own, by series.", PartitionsMax),
	},
}

// byName finds an entry; a name that is not in the catalog is our bug.
func byName(name string) entry {
	for _, e := range catalog {
		if e.name == name {
			return e
		}
	}
	panic("metric: " + name + " is not in the catalog")
}

func help(name string) string { return byName(name).help }
