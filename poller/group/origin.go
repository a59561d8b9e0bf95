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

// metadata is what a commit says beside its offset: how many partitions the topic had when the group began to read it,
// when that was, and the topic's id. Brokers before 2.8 have no ids.
type metadata struct {
	partitions int
	since      time.Time
	topic      string
}

const metadataForm = "sluice partitions=%d since=%d"

func (m metadata) String() string {
	s := fmt.Sprintf(metadataForm, m.partitions, m.since.UnixMilli())
	if m.topic != "" {
		s += " topic=" + m.topic
	}
	return s
}

// parseMetadata reads what a commit says; ok is false where it was not made by Sluice.
func parseMetadata(s string) (m metadata, ok bool) {
	var ms int64
	n, _ := fmt.Sscanf(s, metadataForm+" topic=%s", &m.partitions, &ms, &m.topic)
	m.since = time.UnixMilli(ms)
	return m, n >= 2
}

// learn takes over what commits say of the topics; now and the present counts where they say nothing. ids are the topics'
// own: what commits of earlier topics under the same names say of partitions does not count. expression says that topics
// are found by one: then a topic that the group never committed, but others, was not there before. A topic that is named
// in the configuration may be new there; it is late only if it appears while this process runs.
func (o *origin) learn(commits kadm.OffsetResponses, topics []string, present map[string]int, ids map[string]string, expression bool, now time.Time) {
	counts := map[string]int{}
	commits.Each(func(c kadm.OffsetResponse) {
		m, ok := parseMetadata(c.Metadata)
		if !ok || c.At < 0 {
			return // never committed, or by somebody else
		}
		if o.since.IsZero() || m.since.Before(o.since) {
			o.since = m.since
		}
		if id := ids[c.Topic]; m.partitions <= 0 || m.topic != "" && id != "" && m.topic != id {
			return
		}
		if old, ok := counts[c.Topic]; !ok || m.partitions < old {
			counts[c.Topic] = m.partitions
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

// annotate writes the origin into a commit, with the given ids of the topics.
func (o *origin) annotate(ids map[string]string) func(*kmsg.OffsetCommitRequest) error {
	texts := make(map[string]*string, len(o.partitions))
	for topic, n := range o.partitions {
		texts[topic] = kmsg.StringPtr(metadata{partitions: n, since: o.since, topic: ids[topic]}.String())
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
