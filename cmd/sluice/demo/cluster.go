package demo

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// cluster is the embedded Kafka, with a client for what the demo itself asks of it.
type cluster struct {
	fake  *kfake.Cluster
	admin *kadm.Client
	log   *slog.Logger
}

// segmentBytes keeps the embedded Kafka's segments small: it frees whole ones.
const segmentBytes = "1048576"

// trimEvery is how often committed records are deleted.
const trimEvery = 500 * time.Millisecond

func openCluster(ctx context.Context, log *slog.Logger, scenes []*scene) (*cluster, error) {
	fake, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.BrokerConfigs(map[string]string{"log.segment.bytes": segmentBytes}),
	)
	if err != nil {
		return nil, err
	}
	c := &cluster{fake: fake, log: log}
	client, err := c.client()
	if err != nil {
		fake.Close()
		return nil, err
	}
	c.admin = kadm.NewClient(client)
	for _, s := range scenes {
		for topic, partitions := range map[string]int32{s.Topic(): s.partitions, s.DeadLetterTopic(): 1} {
			if _, err := c.admin.CreateTopic(ctx, partitions, 1, nil, topic); err != nil {
				c.close()
				return nil, err
			}
		}
	}
	return c, nil
}

func (c *cluster) address() string { return c.fake.ListenAddrs()[0] }

func (c *cluster) client(options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.fake.ListenAddrs()...)}, options...)...)
}

func (c *cluster) close() {
	c.admin.Close()
	c.fake.Close()
}

// pause waits a little; it says false when ctx has ended.
func (c *cluster) pause(ctx context.Context) bool {
	select {
	case <-time.After(trimEvery):
		return true
	case <-ctx.Done():
		return false
	}
}

// offsets are what a group has committed of a topic, by partition, and the ends of its partitions.
func (c *cluster) offsets(ctx context.Context, group, topic string) (committed, ends map[int32]int64, err error) {
	fetched, err := c.admin.FetchOffsetsForTopics(ctx, group, topic)
	if err != nil {
		return nil, nil, err
	}
	listed, err := c.admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return nil, nil, err
	}
	committed, ends = map[int32]int64{}, map[int32]int64{}
	fetched.Each(func(o kadm.OffsetResponse) { committed[o.Partition] = max(o.At, 0) })
	listed.Each(func(o kadm.ListedOffset) { ends[o.Partition] = o.Offset })
	return committed, ends, listed.Error()
}

// trim deletes what a group has committed of a topic.
func (c *cluster) trim(ctx context.Context, group, topic string) error {
	committed, _, err := c.offsets(ctx, group, topic)
	if err != nil {
		return err
	}
	var offsets kadm.Offsets
	for p, at := range committed {
		offsets.AddOffset(topic, p, at, -1)
	}
	_, err = c.admin.DeleteRecords(ctx, offsets)
	return err
}
