// Package lag reads how far a consumer group is behind, without being a member of it.
//
// A [Reader] asks the cluster for the bounds of the partitions and for the offsets of exactly the groups that it is asked
// about: whatever the number of partitions, one request for the offsets and two per broker for the bounds (and a cached one
// for metadata), which readings at the same time share. It lists, describes and joins no group, so that rights on those
// groups are enough.
//
// What it cannot read is unknown and comes with an error; it is never taken for 0. What follows from a lag is scaling's to
// say; how often to read, and with which deadline, the controller's.
package lag

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// None stands for an offset that is not there: a partition that the group never committed.
const None record.Offset = -1

// Reader reads lags through a client. It may be used from any goroutine; the mappings of a cluster share one, and so their
// requests.
type Reader struct {
	client *kgo.Client
	admin  *kadm.Client

	mu   sync.Mutex
	next *round    // that has not begun; nil for none
	last time.Time // when one began
}

// New returns a Reader over a client, which must not be a member of a group, and stays the caller's to close.
func New(client *kgo.Client) *Reader { return &Reader{client: client, admin: kadm.NewClient(client)} }

// Query says whose lag is asked for.
type Query struct {
	Group record.GroupID
	// Topics are read by name; or, if Regex is set, those whose names it matches. Kafka's internal topics are never
	// matched.
	Topics []string
	Regex  *regexp.Regexp
	// Start is where the group begins in a partition that it never committed.
	Start Start
}

// Start is where a group begins in a partition that it never committed (AWS, StartingPosition).
type Start struct {
	// Latest: at the end, so nothing is behind. Otherwise at the beginning, or at At if that is set.
	Latest bool
	// At is the time of the first record that counts (AT_TIMESTAMP).
	At time.Time
}

// Partition is how one partition stands.
type Partition struct {
	record.TopicPartition
	// Start is the first offset that the broker still has; End the last stable one: what a reader of committed
	// transactions can reach.
	Start, End record.Offset
	// Committed is the next offset that the group would read; None if it never committed.
	Committed record.Offset
	// Lag is in offsets from where the group reads on to the end, at least 0: what the broker has deleted does not
	// count, nor does a committed offset beyond the end (a topic made anew). Offsets that hold no record, such as
	// those of transaction markers and those that compaction removed, do count until they are committed past.
	Lag int64
}

// String is for logs and tests: «orders-3: 42 behind (1500 of 1542)».
func (p Partition) String() string {
	return fmt.Sprintf("%s: %d behind (%d of %d)", p.TopicPartition, p.Lag, p.Committed, p.End)
}

// Reading is the lag of a group at one moment.
type Reading struct {
	// Partitions by topic and number, those that could be read.
	Partitions []Partition
}

// Sum is how far the group is behind over all partitions.
func (r Reading) Sum() int64 {
	var sum int64
	for _, p := range r.Partitions {
		sum += p.Lag
	}
	return sum
}

// WithLag is how many partitions are behind.
func (r Reading) WithLag() int {
	n := 0
	for _, p := range r.Partitions {
		if p.Lag > 0 {
			n++
		}
	}
	return n
}

// Read reads the lag. With an error the reading holds what could be read nevertheless, and its sum is not the lag. All
// errors may pass: trying again helps, unless the topics are missing or the rights on them.
func (r *Reader) Read(ctx context.Context, q Query) (Reading, error) {
	topics, err := r.topics(ctx, q)
	if err != nil {
		return Reading{}, fmt.Errorf("lag of group %s: topics: %w", q.Group, err)
	}
	if len(topics) == 0 {
		return Reading{}, nil // an expression that matches nothing yet; to kadm no topic would mean all
	}
	answers, err := r.ask(ctx, q.Group, topics)
	if err != nil {
		return Reading{}, fmt.Errorf("lag of group %s: %w", q.Group, err)
	}
	if err := r.askTimes(ctx, q.Start, topics, answers); err != nil {
		return Reading{}, fmt.Errorf("lag of group %s: offsets at %s: %w", q.Group, q.Start.At.Format(time.RFC3339), err)
	}
	reading, err := answers.combine(q.Start)
	if err != nil {
		err = fmt.Errorf("lag of group %s: %w", q.Group, err)
	}
	return reading, err
}

// topics are the names to ask about.
func (r *Reader) topics(ctx context.Context, q Query) ([]string, error) {
	if q.Regex == nil {
		return q.Topics, nil
	}
	all, err := r.admin.ListTopics(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all.Names() {
		if q.Regex.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

func byPartition(a, b Partition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

func sorted(ps []Partition) []Partition {
	slices.SortFunc(ps, byPartition)
	return ps
}
