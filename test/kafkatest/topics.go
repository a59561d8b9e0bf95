package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// CreateTopic makes a topic and waits until every partition has a leader. Up to three brokers hold a copy each.
func (c *Cluster) CreateTopic(name string, partitions int32, configs map[string]string) {
	c.t.Helper()
	ctx, cancel := c.context()
	defer cancel()
	values := map[string]*string{}
	for k, v := range configs {
		values[k] = &v
	}
	_, err := c.Admin().CreateTopic(ctx, partitions, -1, values, name)
	c.must("create topic "+name, err)
	c.poll(requestTimeout, func() error { return c.leaders(ctx, name, int(partitions)) })
}

// DeleteTopic deletes a topic and waits until no broker knows it. One of the same name may then be created.
func (c *Cluster) DeleteTopic(name string) {
	c.t.Helper()
	ctx, cancel := c.context()
	defer cancel()
	_, err := c.Admin().DeleteTopic(ctx, name)
	c.must("delete topic "+name, err)
	c.client.PurgeTopicsFromClient(name) // it would go on producing to the old one
	c.poll(requestTimeout, func() error {
		topics, err := c.Admin().ListTopics(ctx, name)
		if err == nil && !errors.Is(topics[name].Err, kerr.UnknownTopicOrPartition) {
			err = fmt.Errorf("topic %s is still there", name)
		}
		return err
	})
}

func (c *Cluster) leaders(ctx context.Context, name string, partitions int) error {
	topics, err := c.Admin().ListTopics(ctx, name)
	if err != nil {
		return err
	}
	topic := topics[name]
	if topic.Err != nil || len(topic.Partitions) != partitions {
		return fmt.Errorf("topic %s has %d of %d partitions: %w", name, len(topic.Partitions), partitions, topic.Err)
	}
	for _, p := range topic.Partitions {
		if p.Err != nil || p.Leader < 0 {
			return fmt.Errorf("%s-%d has no leader: %w", name, p.Partition, p.Err)
		}
	}
	return nil
}

// WaitInSync waits until every replica of the topics' partitions is in sync, as after Restart and before the next Kill.
func (c *Cluster) WaitInSync(timeout time.Duration, topics ...string) {
	c.t.Helper()
	c.poll(timeout, func() error {
		ctx, cancel := c.context()
		defer cancel()
		listed, err := c.Admin().ListTopics(ctx, topics...)
		if err != nil {
			return err
		}
		for _, topic := range listed {
			for _, p := range topic.Partitions {
				if p.Leader < 0 || len(p.ISR) < len(p.Replicas) {
					return fmt.Errorf("%s-%d: %d of %d replicas in sync", topic.Topic, p.Partition, len(p.ISR), len(p.Replicas))
				}
			}
		}
		return nil
	})
}

// AnyPartition lets Produce choose by key, or by turn where there is none.
const AnyPartition = -1

// chosenOrByKey is the partitioner of the helpers' client: the record's own Partition, unless that is AnyPartition.
// The choice by key need not be Kafka's; it must only be the same each time.
func chosenOrByKey() kgo.Partitioner {
	turn := 0
	return kgo.BasicConsistentPartitioner(func(string) func(*kgo.Record, int) int {
		return func(r *kgo.Record, n int) int {
			switch {
			case r.Partition != AnyPartition:
				return int(r.Partition)
			case r.Key == nil:
				turn++
				return turn % n
			default:
				h := fnv.New32a()
				_, _ = h.Write(r.Key)
				return int(h.Sum32() % uint32(n))
			}
		}
	})
}

// Produce writes records to the partitions they name (AnyPartition is -1) and waits until all are acknowledged by all
// replicas. It fills in their offsets.
func (c *Cluster) Produce(records ...*kgo.Record) {
	c.t.Helper()
	c.Admin()
	ctx, cancel := context.WithTimeout(c.t.Context(), requestTimeout+time.Duration(len(records))*time.Millisecond)
	defer cancel()
	c.must("produce", c.client.ProduceSync(ctx, records...).FirstErr())
}

// ProduceTransaction writes records in one transaction, and commits or aborts it.
func (c *Cluster) ProduceTransaction(commit bool, records ...*kgo.Record) {
	c.t.Helper()
	ctx, cancel := c.context()
	defer cancel()
	client := c.Client(
		kgo.TransactionalID(fmt.Sprintf("kafkatest-%d", time.Now().UnixNano())),
		kgo.RecordPartitioner(chosenOrByKey()),
	)
	defer client.Close()
	c.must("begin transaction", client.BeginTransaction())
	c.must("produce", client.ProduceSync(ctx, records...).FirstErr())
	c.must("end transaction", client.EndTransaction(ctx, kgo.TransactionEndTry(commit)))
}

// EndOffsets are the offsets after the last record of each partition, markers of transactions included.
func (c *Cluster) EndOffsets(topics ...string) map[record.TopicPartition]record.Offset {
	c.t.Helper()
	return c.offsets(c.Admin().ListEndOffsets, topics)
}

// StartOffsets are the offsets of the first record that each partition still has.
func (c *Cluster) StartOffsets(topics ...string) map[record.TopicPartition]record.Offset {
	c.t.Helper()
	return c.offsets(c.Admin().ListStartOffsets, topics)
}

func (c *Cluster) offsets(
	list func(context.Context, ...string) (kadm.ListedOffsets, error), topics []string,
) map[record.TopicPartition]record.Offset {
	c.t.Helper()
	offsets := map[record.TopicPartition]record.Offset{}
	c.read(func(ctx context.Context) error {
		listed, err := list(ctx, topics...)
		if err := errors.Join(err, listed.Error()); err != nil {
			return err
		}
		listed.Each(func(o kadm.ListedOffset) {
			offsets[record.TopicPartition{Topic: o.Topic, Partition: o.Partition}] = record.Offset(o.Offset)
		})
		return nil
	})
	return offsets
}

// Records reads everything that the topics hold now, committed transactions only, by partition and offset.
func (c *Cluster) Records(topics ...string) []*record.Record {
	c.t.Helper()
	ends := c.EndOffsets(topics...)
	from := map[string]map[int32]kgo.Offset{}
	left := map[record.TopicPartition]record.Offset{}
	for tp, start := range c.StartOffsets(topics...) {
		if start >= ends[tp] {
			continue
		}
		left[tp] = ends[tp]
		if from[tp.Topic] == nil {
			from[tp.Topic] = map[int32]kgo.Offset{}
		}
		from[tp.Topic][tp.Partition] = kgo.NewOffset().At(int64(start))
	}
	// A marker at a partition's end is not shown as a record, unless asked for: without it the end would not be seen.
	client := c.Client(kgo.ConsumePartitions(from), kgo.KeepControlRecords(), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	defer client.Close()
	return c.drain(client, left)
}

// drain polls until nothing is left: the last offset of each partition has passed.
func (c *Cluster) drain(client *kgo.Client, left map[record.TopicPartition]record.Offset) []*record.Record {
	c.t.Helper()
	var records []*record.Record
	for len(left) > 0 {
		ctx, cancel := c.context() // for each poll: a long topic may take long, a silent one not
		fetches := client.PollFetches(ctx)
		cancel()
		c.must("read", fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			tp := record.TopicPartition{Topic: r.Topic, Partition: r.Partition}
			if end, ok := left[tp]; ok && record.Offset(r.Offset)+1 >= end {
				delete(left, tp)
			}
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
		})
	}
	slices.SortStableFunc(records, func(a, b *record.Record) int {
		if n := int(a.Partition) - int(b.Partition); n != 0 {
			return n
		}
		return int(a.Offset - b.Offset)
	})
	return records
}
