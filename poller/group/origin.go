package group

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// origin is when a group first read anything, and how many partitions its topics had then. It is written into the
// metadata of every commit, so that whichever process gets a partition without a commit knows whether it is new.
type origin struct {
	since      time.Time
	partitions map[string]int
	// opened is when this process read anything first; zero before.
	opened time.Time
	// late says of topics that came later than the others since when their records count, whatever LATEST would skip.
	late map[string]time.Time
}

func newOrigin() origin {
	return origin{partitions: make(map[string]int), late: make(map[string]time.Time)}
}

// metadataForm is what a commit's metadata says.
const metadataForm = "sluice partitions=%d since=%d"

// learn takes over what commits say of the topics; now and the present counts where they say nothing. expression says
// that topics are found by one: then a topic that the group never committed, but others, was not there before. A topic
// that is named in the configuration may be new there; it is late only if it appears while this process runs.
func (o *origin) learn(commits kadm.OffsetResponses, topics []string, present map[string]int, expression bool, now time.Time) {
	counts := map[string]int{}
	commits.Each(func(c kadm.OffsetResponse) {
		var n int
		var ms int64
		if _, err := fmt.Sscanf(c.Metadata, metadataForm, &n, &ms); err != nil || n <= 0 || c.At < 0 {
			return // never committed, or by somebody else
		}
		if old, ok := counts[c.Topic]; !ok || n < old {
			counts[c.Topic] = n
		}
		if at := time.UnixMilli(ms); o.since.IsZero() || at.Before(o.since) {
			o.since = at
		}
	})
	for _, t := range topics {
		if n := counts[t]; n > 0 {
			o.partitions[t] = n
			continue
		}
		o.partitions[t] = present[t]
		switch {
		case expression && !o.since.IsZero():
			o.late[t] = o.since
		case !o.opened.IsZero():
			o.late[t] = o.opened
		}
	}
	if o.since.IsZero() {
		o.since = now
	}
	if o.opened.IsZero() {
		o.opened = now
	}
}

// annotate writes the origin into a commit.
func (o *origin) annotate() func(*kmsg.OffsetCommitRequest) error {
	texts := make(map[string]*string, len(o.partitions))
	for topic, n := range o.partitions {
		texts[topic] = kmsg.StringPtr(fmt.Sprintf(metadataForm, n, o.since.UnixMilli()))
	}
	return func(req *kmsg.OffsetCommitRequest) error {
		for i := range req.Topics {
			t := &req.Topics[i]
			for j := range t.Partitions {
				if text := texts[t.Topic]; text != nil {
					t.Partitions[j].Metadata = text
				}
			}
		}
		return nil
	}
}
