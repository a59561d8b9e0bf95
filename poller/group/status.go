package group

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/inflight"
)

// Joined says whether the group has given us an assignment, which may be empty, and everything produced from now on to
// its partitions will be read: their starting positions are known and committed.
func (f *Feed) Joined() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.joined && len(f.opening) == 0
}

// Problem is when polling last failed, and how; nil when records were fetched since. A commit that failed goes before,
// and is a problem of now until one arrives, whatever is fetched meanwhile.
func (f *Feed) Problem() (at time.Time, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unsaved != nil {
		return time.Now(), f.unsaved
	}
	return f.problemAt, f.problem
}

// States describes the windows of the partitions that are assigned to this process, by topic and partition.
func (f *Feed) States() []inflight.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.set.States()
}

// Settled is how many records have been settled since the feed was made.
func (f *Feed) Settled() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.total
}

// Buffered is how many records were fetched and are not settled, and their payload in bytes.
func (f *Feed) Buffered() (records int, bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.set.Records(), f.set.Bytes()
}

// names lists partitions as "orders-0,1,4 payments-2".
func names(m map[string][]int32) string {
	topics := make([]string, 0, len(m))
	for t := range m {
		topics = append(topics, t)
	}
	slices.Sort(topics)
	var b strings.Builder
	for i, t := range topics {
		if i > 0 {
			b.WriteByte(' ')
		}
		ps := slices.Sorted(slices.Values(m[t]))
		fmt.Fprintf(&b, "%s-%s", t, strings.Trim(strings.ReplaceAll(fmt.Sprint(ps), " ", ","), "[]"))
	}
	return b.String()
}
