package metric

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Mapping holds the handles of one mapping. Every field may be used from any goroutine. Records are counted one by one
// («event» is CloudWatch's word for a record); a record counts as invoked again on each retry, so sums need not balance.
type Mapping struct {
	name string

	// The EventCount group of CloudWatch: records that were fetched; that no filter pattern matched; that were
	// handed to the function; that were in a failed invocation or named as failed by the function.
	Polled, FilteredOut, Invoked, FailedInvoke Counter
	// Records that were given up without a confirmed delivery; that the on-failure destination confirmed; whose
	// offsets the broker holds as committed.
	Dropped, OnFailureDestinationDelivered, Committed Counter
	// Offsets that the broker deleted before they were read, by topic. Ours, not CloudWatch's.
	LostToRetention TopicCounter
	// Records handed to the function again after a failure, and records fetched again although this process had
	// them before (a revoke past the drain deadline, a lost commit). Ours, not CloudWatch's.
	Retried, Redelivered Counter

	// The ErrorCount group of CloudWatch, by kind: polls, commits, invocations and deliveries that failed. The kind
	// of an invocation error is the name of its invoke.Kind, that of a Kafka error its protocol name.
	PollingErrors, CommitErrors, InvokeErrors, OnFailureDestinationDeliveryErrors ErrorCounter

	// Invocations, successful or not.
	Batches Counter
	// Bytes charged to the pollers' budgets (key, value and headers), and bytes that were fetched, thrown away and
	// fetched again.
	AcquiredBytes, RefetchedBytes Counter

	// How long invocations took, how many records and how many bytes of event document a batch carried, how long
	// commits took.
	InvokeDuration Seconds
	BatchRecords   Sizes
	BatchBytes     Sizes
	CommitLatency  Seconds

	// Pollers that run, their bounds, and how many the scaler wants.
	Pollers, PollersMinimum, PollersMaximum, PollersWanted Gauge
	// What is out with the function, and what was fetched and is not settled.
	InFlightRecords, InFlightBatches, BufferedRecords, BufferedBytes Gauge
	// GroupProtocol is how the consumer group shares its partitions: classic or consumer.
	GroupProtocol Word
	// Ready is 1 while the mapping may count as ready, else 0.
	Ready Gauge
	// Throttled is 1 while a poller is held back by its limits, else 0; ThrottledTime is for how long that was,
	// summed over the pollers.
	Throttled     Gauge
	ThrottledTime Elapsed

	partitions partitions
}

func newMapping(name string) *Mapping {
	m := &Mapping{name: name}
	m.InvokeDuration.h = m.histogram("invocation_duration_seconds", durationBuckets)
	m.CommitLatency.h = m.histogram("commit_duration_seconds", durationBuckets)
	m.BatchRecords.h = m.histogram("batch_records", recordBuckets)
	m.BatchBytes.h = m.histogram("batch_bytes", byteBuckets)
	return m
}

// Buckets, chosen to hold what Lambda allows: 15 minutes, 10 000 records, 6 MB.
var (
	durationBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900}
	recordBuckets   = []float64{1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000}
	byteBuckets     = []float64{1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 2e6, 4e6, 6291456}
)

func (m *Mapping) histogram(name string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: Namespace, Name: name, Help: help(name), Buckets: buckets,
		ConstLabels: prometheus.Labels{"mapping": m.name},
	})
}

// Counter is a number that only grows. The zero value is ready.
type Counter struct{ n atomic.Int64 }

// Add adds n, which is not negative.
func (c *Counter) Add(n int) { c.n.Add(int64(n)) }

// Value returns the count.
func (c *Counter) Value() int64 { return c.n.Load() }

// Gauge is a number that goes up and down. The zero value is ready.
type Gauge struct{ n atomic.Int64 }

// Set replaces the value.
func (g *Gauge) Set(n int64) { g.n.Store(n) }

// SetBool replaces the value by 1 for true and 0 for false.
func (g *Gauge) SetBool(b bool) {
	var n int64
	if b {
		n = 1
	}
	g.n.Store(n)
}

// Add adds n, which may be negative.
func (g *Gauge) Add(n int64) { g.n.Add(n) }

// Value returns the value.
func (g *Gauge) Value() int64 { return g.n.Load() }

// Word is a value that is a word of few. The zero value is none, and has no series.
type Word struct{ w atomic.Value }

// Set replaces the word.
func (w *Word) Set(word string) { w.w.Store(word) }

// Value returns the word, or "".
func (w *Word) Value() string {
	word, _ := w.w.Load().(string)
	return word
}

// Elapsed is a sum of durations, shown in seconds. The zero value is ready.
type Elapsed struct{ n atomic.Int64 }

// Add adds d, which is not negative.
func (e *Elapsed) Add(d time.Duration) { e.n.Add(int64(d)) }

// Value returns the sum.
func (e *Elapsed) Value() time.Duration { return time.Duration(e.n.Load()) }

// Seconds is a histogram of durations.
type Seconds struct{ h prometheus.Histogram }

// Observe adds one duration.
func (s *Seconds) Observe(d time.Duration) { s.h.Observe(d.Seconds()) }

// Sizes is a histogram of numbers of records or bytes.
type Sizes struct{ h prometheus.Histogram }

// Observe adds one number.
func (s *Sizes) Observe(n int) { s.h.Observe(float64(n)) }
