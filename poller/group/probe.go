package group

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/record"
)

// Probe looks at partitions that have nothing to hand out although their end is ahead: where compaction has emptied
// the end of a log, the client passes it without a word, and the lag would never be 0. If the log holds no record
// from where we stand on, the window moves on; so it does where all that was to come is deleted. Each partition costs a
// fetch request; to be called for few of them, and rarely.
func (f *Feed) Probe(ctx context.Context, tps []record.TopicPartition) error {
	<-f.made
	for _, tp := range tps {
		f.mu.Lock()
		next, owned := f.set.Next(tp)
		f.mu.Unlock()
		if !owned {
			continue
		}
		to, err := f.emptyUntil(ctx, tp, next)
		lost := errors.Is(err, kerr.OffsetOutOfRange)
		if lost {
			to, err = f.oldest(ctx, tp)
		}
		if err != nil {
			return fmt.Errorf("probe of %s: %w", tp.At(next), err)
		}
		f.skip(tp, next, to, lost)
		signal(f.dirty)
	}
	return nil
}

// emptyUntil fetches at an offset and returns up to where there is no record; from itself if there is one right there.
func (f *Feed) emptyUntil(ctx context.Context, tp record.TopicPartition, from record.Offset) (record.Offset, error) {
	topics, err := kadm.NewClient(f.client).ListTopics(ctx, tp.Topic)
	if err != nil {
		return from, err
	}
	detail, ok := topics[tp.Topic].Partitions[tp.Partition]
	if !ok || detail.Err != nil {
		return from, fmt.Errorf("the partition has no leader: %w", detail.Err)
	}
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.IsolationLevel, req.MinBytes = fetchPartitionBytesMax, 1, 0
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = tp.Topic, topics[tp.Topic].ID
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = tp.Partition, int64(from), fetchPartitionBytesMax
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, f.client.Broker(int(detail.Leader)))
	if err != nil {
		return from, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return from, fmt.Errorf("the broker answered for %d topics", len(resp.Topics))
	}
	got := &resp.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(got.ErrorCode); err != nil {
		return from, err
	}
	if len(got.RecordBatches) == 0 {
		return f.localUntil(ctx, tp, from, record.Offset(got.LastStableOffset))
	}
	found, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		KeepControlRecords: true, Offset: int64(from), IsolationLevel: kgo.ReadCommitted(), Topic: tp.Topic, Partition: tp.Partition,
	}, got, kgo.DefaultDecompressor(), nil)
	if len(found.Records) > 0 || found.Err != nil {
		return from, found.Err
	}
	return record.Offset(next), nil
}

// oldest is where the partition's log begins.
func (f *Feed) oldest(ctx context.Context, tp record.TopicPartition) (record.Offset, error) {
	listed, err := kadm.NewClient(f.client).ListStartOffsets(ctx, tp.Topic)
	if err != nil {
		return 0, err
	}
	o, ok := listed.Lookup(tp.Topic, tp.Partition)
	if !ok || o.Err != nil {
		return 0, fmt.Errorf("list the start of the log: %w", o.Err)
	}
	return record.Offset(o.Offset), nil
}

// localUntil judges a log whose fetch from there on brought nothing: it is empty up to its end if all of it is on the
// broker's disk. Tiered storage answers with nothing, too, when the remote store is slow.
func (f *Feed) localUntil(ctx context.Context, tp record.TopicPartition, from, end record.Offset) (record.Offset, error) {
	listed, err := kadm.NewClient(f.client).ListLocalLogStartOffsets(ctx, tp.Topic)
	if err != nil {
		return from, err
	}
	o, ok := listed.Lookup(tp.Topic, tp.Partition)
	if !ok || o.Err != nil {
		return from, fmt.Errorf("list the start of the local log: %w", o.Err)
	}
	if record.Offset(o.Offset) > from {
		return from, nil
	}
	return max(from, end), nil
}
