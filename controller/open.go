package controller

import (
	"context"
	"log/slog"
	"time"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/filter"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/record"
)

// Opener makes the adapters of a mapping.
type Opener interface {
	// Encoder gives the mapping's batches their form.
	Encoder(m *mapping.Mapping) poller.Encoder
	// Open makes everything else. An error says that it cannot be made now; the controller tries again later. A
	// Refusal says that it never should be.
	Open(ctx context.Context, m *mapping.Mapping, s FeedSpec) (*Adapters, error)
}

// Refusal is a reason not to run a mapping that only the cluster can tell: its destination is its own source.
type Refusal struct{ Reason string }

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

// FeedSpec is what a feed is made from, beside the mapping's own fields.
type FeedSpec struct {
	// Filter says which records are delivered; nil delivers all.
	Filter       *filter.Filter
	Limits       inflight.Limits
	Sizes        inflight.Sizes
	DrainTimeout time.Duration
	// Recreated are topics that were deleted and created anew, with the ids that they had: what the mapping's feed
	// before this one told.
	Recreated map[string]string
	Metrics   *metric.Mapping
	Log       *slog.Logger
}

// Adapters are the ends of a mapping in this process.
type Adapters struct {
	// Feed has not been started.
	Feed     Feed
	Function invoke.Function
	// Gate stands before the function; the feed enters it.
	Gate *poller.Gate
	// Destination is nil where the mapping has none.
	Destination failure.Destination
	// Offsets reads how far the mapping's group is behind.
	Offsets OffsetReader
	// Explain says a Kafka error in words: what is wrong and what to do.
	Explain func(error) (reason, hint string)
	// Close frees what the feed does not own, after it has stopped.
	Close func()
}

// Feed is a mapping's Kafka membership, as the controller sees it.
type Feed interface {
	lifecycle.Part
	poller.Feed
	// Joined says whether the group has given us an assignment, maybe an empty one.
	Joined() bool
	// Problem is when polling or committing last failed, and how; nil if records were fetched since.
	Problem() (at time.Time, err error)
	// Settled is how many records have been settled since the feed was made.
	Settled() int64
	// Probe looks whether partitions that seem to have nothing left are in truth at the end of their log, and moves
	// them on if so.
	Probe(ctx context.Context, tps []record.TopicPartition) error
	// States describes the windows of the partitions that are ours.
	States() []inflight.State
	// Lapsed is closed when the feed cannot go on: a topic of its was deleted and created anew. It is to be stopped, and
	// the next one told what Recreated says.
	Lapsed() <-chan struct{}
	// Recreated are the topics that were created anew, with the ids that they had.
	Recreated() map[string]string
	// Absent are the topics that do not exist; Stopped those that were created anew and are therefore not read.
	Absent() []string
	Stopped() []string
	// Refresh has the feed look for new topics and partitions now.
	Refresh()
}

// OffsetReader reads the offsets of a mapping's group and its topics' partitions. An error means that nothing is
// known; it never means 0.
type OffsetReader interface {
	Read(ctx context.Context) ([]Offsets, error)
}

// Offsets is how far a group is in one partition.
type Offsets struct {
	record.TopicPartition
	// End is where the next record that can be read will be. Committed is -1 where nothing is committed.
	End, Committed record.Offset
	// Lag counts from where the group would go on.
	Lag int64
}
