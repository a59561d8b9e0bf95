package group

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/record"
)

// commitLoop commits what has settled, at most once an interval, and sleeps while nothing does.
func (f *Feed) commitLoop(ctx context.Context) {
	for {
		select {
		case <-f.dirty:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(f.config.CommitInterval):
		case <-ctx.Done():
			return
		}
		if !f.commit(ctx) {
			signal(f.dirty) // once more, an interval later
		}
	}
}

// commitTimeout bounds one commit, so that a coordinator that does not answer does not hold the next one up.
const commitTimeout = 30 * time.Second

// commit commits every partition whose commit point has moved and reports whether all arrived. What did not is
// listed again by the next commit.
func (f *Feed) commit(ctx context.Context) bool {
	f.committing.Lock()
	defer f.committing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	f.mu.Lock()
	commits := f.useful(f.set.Commits(nil))
	if len(commits) == 0 {
		f.mu.Unlock()
		return true
	}
	settled := f.settled
	f.settled = 0
	f.uncommit = cancel // a lost membership must not commit under the next one
	annotate := f.origin.annotate(f.topics.ids)
	f.mu.Unlock()
	offsets := make(map[string]map[int32]kgo.EpochOffset)
	for _, c := range commits {
		topic := offsets[c.Topic]
		if topic == nil {
			topic = make(map[int32]kgo.EpochOffset)
			offsets[c.Topic] = topic
		}
		topic[c.Partition] = kgo.EpochOffset{Epoch: c.Epoch, Offset: int64(c.Offset)}
	}
	began := time.Now()
	failed := map[record.TopicPartition]error{}
	var whole error
	f.client.CommitOffsetsSync(kgo.PreCommitFnContext(ctx, annotate), offsets, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		if whole = err; err != nil {
			return
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					failed[record.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = err
				}
			}
		}
	})
	f.config.Metrics.CommitLatency.Observe(time.Since(began))
	if !f.committed(commits, failed, whole) {
		f.mu.Lock()
		f.settled += settled
		f.mu.Unlock()
		return false
	}
	f.config.Metrics.Committed.Add(settled)
	return true
}

// useful leaves out the commits of topics that were deleted: nobody needs them, and some brokers would take them for those
// of a new topic with the same name. If a topic should come back as it was, the next commit has them. The caller holds mu.
func (f *Feed) useful(commits []inflight.Commit) []inflight.Commit {
	if len(f.topics.absent)+len(f.topics.recreated) == 0 {
		return commits
	}
	var useless []inflight.Commit
	commits = slices.DeleteFunc(commits, func(c inflight.Commit) bool {
		gone := f.gone(c.Topic)
		if gone {
			useless = append(useless, c)
		}
		return gone
	})
	f.set.Uncommitted(useless)
	return commits
}

// committed takes back what did not arrive.
func (f *Feed) committed(commits []inflight.Commit, failed map[record.TopicPartition]error, whole error) bool {
	var back []inflight.Commit
	var first error
	said := time.Since(f.complained) < commitLinesAgain
	for _, c := range commits {
		err := whole
		if err == nil {
			err = failed[c.TopicPartition]
		}
		if err == nil {
			continue
		}
		back = append(back, c)
		if first == nil {
			first = err
		}
		if errors.Is(err, context.Canceled) {
			continue
		}
		if unknownTopic(err) {
			f.mu.Lock()
			f.doubt(c.Topic, time.Now())
			f.mu.Unlock()
		}
		f.config.Metrics.CommitErrors.Inc(kafkaErrorName(err))
		if !said && len(back) <= commitLinesMax {
			f.complained = time.Now()
			f.config.Log.Warn("commit failed; it will be tried again", "group", f.config.Group,
				"topic", c.Topic, "partition", c.Partition, "offset", int64(c.Offset), "error", err)
		}
	}
	if !said && len(back) > commitLinesMax {
		f.config.Log.Warn("more commits failed", "group", f.config.Group, "partitions", len(back)-commitLinesMax)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set.Uncommitted(back)
	switch {
	case len(back) == 0:
		f.unsaved = nil
	case !errors.Is(first, context.Canceled): // else it was given up: the partitions are gone, or the feed stops
		f.unsaved = fmt.Errorf("commit: %w", first)
	}
	return len(back) == 0
}

// commitLinesMax bounds the partitions that the log names of one commit that failed; commitLinesAgain is how long it then
// says nothing of further ones, which come every second while the coordinator is away.
const (
	commitLinesMax   = 5
	commitLinesAgain = 10 * time.Second
)

// kafkaErrorName is the protocol's name of an error, for a metric's label.
func kafkaErrorName(err error) string {
	var ke *kerr.Error
	switch {
	case errors.As(err, &ke):
		return ke.Message
	case errors.Is(err, context.DeadlineExceeded):
		return "TIMEOUT"
	}
	return "CONNECTION"
}
