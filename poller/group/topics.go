package group

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/record"
)

// A topic that is deleted and created anew under its name is another topic: it has another id, and its offsets begin
// again. A feed reads a topic under one id. What it committed says under which, so that no offset of the old topic is
// ever taken for one of the new, by whomever and however much later. When another id shows up, the feed has lapsed: it
// is to be stopped, and a new one made that is told of it (Config.Recreated).

// OnRecreated says what becomes of a topic that was deleted and created anew.
type OnRecreated uint8

// What may become of it.
const (
	// StartAtBeginning reads the new topic from its oldest record, whatever the starting position.
	StartAtBeginning OnRecreated = iota
	// StopReading reads nothing of it, and says so, until somebody decides.
	StopReading
)

// topicLife is what a feed knows of its topics' coming and going. It is guarded by the feed's mutex, except for the
// channels.
type topicLife struct {
	// ids says under which id each topic is read; topics of brokers without ids are missing.
	ids map[string]string
	// tags says under which id the commits were made that the partitions' last assignment found.
	tags map[record.TopicPartition]string
	// doubted are topics that a broker does not know under our id, since when; last is when it said so last.
	doubted map[string]doubt
	// absent are those that the cluster does not know at all; late those that it did not know when this feed began, so
	// that all of their records came since.
	absent, late map[string]bool
	// recreated are those that were created anew, with their old ids; stopped are those of them that are not read.
	recreated map[string]string
	stopped   map[string]bool

	doubts chan struct{} // wakes watchTopics
	lapsed chan struct{} // closed when a topic of this feed's was created anew
}

type doubt struct{ since, last time.Time }

func newTopicLife(recreated map[string]string) topicLife {
	l := topicLife{
		ids: make(map[string]string), tags: make(map[record.TopicPartition]string), doubted: make(map[string]doubt),
		absent: make(map[string]bool), late: make(map[string]bool),
		recreated: maps.Clone(recreated), stopped: make(map[string]bool),
		doubts: make(chan struct{}, 1), lapsed: make(chan struct{}),
	}
	if l.recreated == nil {
		l.recreated = make(map[string]string)
	}
	return l
}

// Lapsed is closed when a topic that the feed reads was deleted and created anew: the feed cannot go on with it, and
// should be stopped and another one made, which is told what Recreated says.
func (f *Feed) Lapsed() <-chan struct{} { return f.topics.lapsed }

// Recreated are the topics that were deleted and created anew, as far as this feed was told or saw, with the id of the
// topic that was before.
func (f *Feed) Recreated() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.topics.recreated)
}

// Absent are the topics that do not exist, or not any more, by name.
func (f *Feed) Absent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.topics.absent))
}

// Stopped are the topics that were created anew and are therefore not read (StopReading), by name.
func (f *Feed) Stopped() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.topics.stopped))
}

// Refresh has the feed look now whether topics and partitions have come, gone, or been made anew.
func (f *Feed) Refresh() {
	select {
	case <-f.made:
	default:
		return // it has not begun to look
	}
	f.client.ForceMetadataRefresh()
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for topic := range f.topics.ids {
		f.doubt(topic, now)
	}
	for _, topic := range f.config.Topics {
		f.doubt(topic, now)
	}
}

// offsetsFetched is called by the client with the group's commits of newly assigned partitions, before positions: it
// keeps what they say of the topic that they are of.
func (f *Feed) offsetsFetched(_ context.Context, _ *kgo.Client, resp *kmsg.OffsetFetchResponse) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range resp.Groups {
		for _, t := range resp.Groups[i].Topics {
			for _, p := range t.Partitions {
				tp := record.TopicPartition{Topic: t.Topic, Partition: p.Partition}
				delete(f.topics.tags, tp)
				if p.Metadata != nil && p.Offset >= 0 {
					if m, ok := parseMetadata(*p.Metadata); ok && m.topic != "" {
						f.topics.tags[tp] = m.topic
					}
				}
			}
		}
	}
	return nil
}

// identify asks under which ids the topics are known, and notes those that this feed sees first. A topic that was created
// anew has the feed lapse; it has the id that this feed knows it by. An error says that the assignment cannot be taken now.
func (f *Feed) identify(ctx context.Context, admin *kadm.Client, topics []string) (map[string]string, error) {
	bounded, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	if err := f.renew(bounded, topics); err != nil {
		return nil, fmt.Errorf("ids of topics: %w", err)
	}
	listed, err := admin.ListTopics(bounded, topics...)
	if err != nil {
		return nil, fmt.Errorf("ids of topics: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := make(map[string]string, len(topics))
	for _, t := range topics {
		id, known := topicID(listed[t])
		if !known {
			continue
		}
		switch ours := f.topics.ids[t]; {
		case ours == "" && f.topics.recreated[t] == id:
			return nil, fmt.Errorf("topic %s is still known by the id that it had before it was deleted", t)
		case ours == "":
			f.topics.ids[t] = id
		case ours != id:
			f.lapse(t, id)
		}
		ids[t] = f.topics.ids[t]
	}
	return ids, nil
}

// renew has the client remember the topics as they are now. It answers from memory for seconds, in which the partitions
// that have just been assigned may be missing.
func (f *Feed) renew(ctx context.Context, topics []string) error {
	if len(topics) == 0 { // would ask for all that there are
		return nil
	}
	req := kmsg.NewPtrMetadataRequest()
	for _, topic := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(topic)
		req.Topics = append(req.Topics, t)
	}
	_, err := req.RequestWith(ctx, f.client)
	return err
}

// topicID is the topic's id as Kafka's tools and our commits tell it, and whether it has one.
func topicID(d kadm.TopicDetail) (string, bool) {
	return base64.RawURLEncoding.EncodeToString(d.ID[:]), d.Err == nil && d.ID != kadm.TopicID{}
}

// lapse notes that a topic was created anew. The caller holds mu.
func (f *Feed) lapse(topic, id string) {
	if f.outlived(topic) {
		return
	}
	f.topics.recreated[topic] = f.topics.ids[topic]
	f.config.Log.Warn("a topic was deleted and created anew; joining the group again", "topic", topic,
		"old_id", f.topics.ids[topic], "new_id", id)
	f.lapseNow()
}

func (f *Feed) lapseNow() {
	select {
	case <-f.topics.lapsed:
	default:
		close(f.topics.lapsed)
	}
}

// before is the id of the topic that the partition's commit, or this process's knowledge, is of, if that is another than
// the one that there is now; else it is empty. The caller holds mu.
func (f *Feed) before(tp record.TopicPartition, id string) string {
	switch tag := f.topics.tags[tp]; {
	case id == "" || tag == id:
		return ""
	case tag != "":
		return tag
	}
	return f.topics.recreated[tp.Topic]
}

// gone says whether what is committed for the topic would be of no use, or for another topic. The caller holds mu.
func (f *Feed) gone(topic string) bool {
	return f.topics.absent[topic] || f.outlived(topic)
}

// outlived says whether the topic that this feed reads was created anew. The caller holds mu.
func (f *Feed) outlived(topic string) bool {
	old, recreated := f.topics.recreated[topic]
	return recreated && old == f.topics.ids[topic]
}

// doubt notes that a broker does not know the topic under our id. The caller holds mu.
func (f *Feed) doubt(topic string, now time.Time) {
	d, doubted := f.topics.doubted[topic]
	if !doubted {
		d.since = now
	}
	d.last = now
	f.topics.doubted[topic] = d
	signal(f.topics.doubts)
}

// lookAgain is the pause between looks at topics that are in doubt, or deleted.
const lookAgain = time.Second

// believeAfter is how long nothing must renew a doubt. Brokers learn of a topic one after the other.
const believeAfter = 5 * time.Second

// doubtMax is how long a broker may say that it does not know a topic that the cluster has under our id. Then the client's
// own idea of the topic is old, and another client is needed.
const doubtMax = 30 * time.Second

// watchTopics finds out which topics do not exist, and what became of topics that are in doubt.
func (f *Feed) watchTopics(ctx context.Context) {
	f.mu.Lock()
	for _, topic := range f.config.Topics {
		f.doubt(topic, time.Now().Add(-2*believeAfter)) // one look will do
	}
	f.mu.Unlock()
	for {
		select {
		case <-f.topics.doubts:
		case <-ctx.Done():
			return
		}
		for f.examine(ctx) && sleep(ctx, lookAgain) {
		}
	}
}

// examine asks the cluster for the topics that are in doubt, and says whether any of them still is.
func (f *Feed) examine(ctx context.Context) bool {
	f.mu.Lock()
	topics := slices.Collect(maps.Keys(f.topics.doubted))
	f.mu.Unlock()
	if len(topics) == 0 {
		return false
	}
	bounded, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	listed, err := kadm.NewClient(f.client).ListTopics(bounded, topics...)
	if err != nil {
		return ctx.Err() == nil
	}
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range topics {
		id, known := topicID(listed[t])
		switch ours := f.topics.ids[t]; {
		case known && ours != "" && id != ours:
			f.lapse(t, id)
		case known:
			f.reappeared(t, now)
		case errors.Is(listed[t].Err, kerr.UnknownTopicOrPartition):
			f.vanished(t)
		default: // it may not be described, or its brokers are away: others say so
			f.believe(t, now)
		}
	}
	return len(f.topics.doubted) > 0
}

// vanished notes that the cluster does not know the topic: it is fetched no more, as a broker answers such a fetch at
// once, again and again. The caller holds mu.
func (f *Feed) vanished(topic string) {
	if f.topics.absent[topic] {
		return
	}
	f.topics.absent[topic] = true
	f.client.PauseFetchTopics(topic)
	if f.topics.ids[topic] == "" {
		f.topics.late[topic] = true
		f.config.Log.Warn("a topic does not exist; waiting for it", "topic", topic)
		return
	}
	f.config.Log.Error("a topic that is read does not exist any more; waiting for it", "topic", topic)
}

// reappeared notes that the cluster knows the topic under our id. The caller holds mu.
func (f *Feed) reappeared(topic string, now time.Time) {
	if f.topics.absent[topic] {
		delete(f.topics.absent, topic)
		f.client.ResumeFetchTopics(topic)
		f.client.ForceMetadataRefresh()
		f.topics.doubted[topic] = doubt{since: now, last: now}
		f.config.Log.Info("the topic is there", "topic", topic)
		return
	}
	if d := f.topics.doubted[topic]; !f.believe(topic, now) && now.Sub(d.since) > doubtMax {
		f.config.Log.Warn("the brokers do not know a topic that the cluster has; joining the group again", "topic", topic)
		f.lapseNow()
	}
}

// believe ends a doubt that nothing has renewed for a while. The caller holds mu.
func (f *Feed) believe(topic string, now time.Time) bool {
	if now.Sub(f.topics.doubted[topic].last) <= believeAfter {
		return false
	}
	delete(f.topics.doubted, topic)
	return true
}

// unmatched forgets that topics were deleted whose partitions are given up: what an expression finds no more is no loss. The
// caller holds mu.
func (f *Feed) unmatched(tps []record.TopicPartition) {
	if f.config.Regex == "" {
		return
	}
	read := make(map[string]bool)
	f.set.Each(func(tp record.TopicPartition, _ int, _ int64) { read[tp.Topic] = true })
	for _, tp := range tps {
		if !read[tp.Topic] {
			delete(f.topics.absent, tp.Topic)
			delete(f.topics.doubted, tp.Topic)
		}
	}
}

// stop keeps the client from fetching partitions of topics that were created anew, and commits where their new logs begin
// under the old topics' ids: so the lag is of the new topic, and a restart finds that nobody has decided yet. Nothing is
// committed for a feed that has lapsed.
func (f *Feed) stop(ctx context.Context, stopped map[record.TopicPartition]string, logs *logs) {
	if len(stopped) == 0 {
		return
	}
	pause := make(map[string][]int32)
	offsets := make(map[string]map[int32]kgo.EpochOffset)
	old := make(map[string]string)
	for tp, id := range stopped {
		pause[tp.Topic] = append(pause[tp.Topic], tp.Partition)
		if id == "" || logs.unlisted[tp] {
			continue
		}
		old[tp.Topic] = id
		if offsets[tp.Topic] == nil {
			offsets[tp.Topic] = make(map[int32]kgo.EpochOffset)
		}
		offsets[tp.Topic][tp.Partition] = kgo.EpochOffset{Epoch: -1, Offset: int64(logs.oldest[tp])}
	}
	f.client.PauseFetchPartitions(pause)
	if len(offsets) == 0 {
		return
	}
	f.config.Log.Error("topics were deleted and created anew; onTopicRecreated says not to read them", "partitions", names(pause))
	f.mu.Lock()
	annotate := f.origin.annotate(old)
	f.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	f.committing.Lock()
	defer f.committing.Unlock()
	f.client.CommitOffsetsSync(kgo.PreCommitFnContext(bounded, annotate), offsets,
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
			if err == nil {
				err = firstError(resp)
			}
			if err != nil {
				f.config.Log.Warn("that they are not read could not be committed", "error", err)
			}
		})
}

func firstError(resp *kmsg.OffsetCommitResponse) error {
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}
