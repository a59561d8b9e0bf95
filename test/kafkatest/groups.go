package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/record"
)

// Committed are the offsets that a consumer group has committed; empty for a group that does not exist.
func (c *Cluster) Committed(group record.GroupID) map[record.TopicPartition]record.Offset {
	c.t.Helper()
	committed := map[record.TopicPartition]record.Offset{}
	c.read(func(ctx context.Context) error {
		fetched, err := c.Admin().FetchOffsets(ctx, string(group))
		if errors.Is(err, kerr.GroupIDNotFound) {
			return nil
		}
		if err != nil {
			c.lookForCoordinator(ctx, group)
		}
		if err := errors.Join(err, fetched.Error()); err != nil {
			return err
		}
		fetched.Each(func(o kadm.OffsetResponse) {
			committed[record.TopicPartition{Topic: o.Topic, Partition: o.Partition}] = record.Offset(o.At)
		})
		return nil
	})
	return committed
}

// lookForCoordinator has the client forget a coordinator that died: franz-go goes on asking it for offsets, but not for
// the heartbeat of a member, of which there is none here.
func (c *Cluster) lookForCoordinator(ctx context.Context, group record.GroupID) {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.Generation = string(group), -1
	_, _ = req.RequestWith(ctx, c.client)
}

// Lag is how far a group's committed offset is behind the end, for each partition where it is. Where nothing is
// committed, everything that the partition holds counts.
func (c *Cluster) Lag(group record.GroupID, topics ...string) map[record.TopicPartition]record.Offset {
	c.t.Helper()
	starts, ends := c.StartOffsets(topics...), c.EndOffsets(topics...)
	committed := c.Committed(group)
	lag := map[record.TopicPartition]record.Offset{}
	for tp, end := range ends {
		from, ok := committed[tp]
		if !ok {
			from = starts[tp]
		}
		if from < end {
			lag[tp] = end - from
		}
	}
	return lag
}

// WaitLagZero waits until the group has committed the end of every partition of the topics.
func (c *Cluster) WaitLagZero(group record.GroupID, topics []string, timeout time.Duration) {
	c.t.Helper()
	c.poll(timeout, func() error {
		if lag := c.Lag(group, topics...); len(lag) > 0 {
			return fmt.Errorf("group %s is behind: %s", group, describe(lag))
		}
		return nil
	})
}

func describe(offsets map[record.TopicPartition]record.Offset) string {
	var parts []string
	for tp, n := range offsets {
		parts = append(parts, fmt.Sprintf("%s by %d", tp, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// WaitMembers waits until a consumer group is stable with that many members.
func (c *Cluster) WaitMembers(group record.GroupID, members int, timeout time.Duration) {
	c.t.Helper()
	c.poll(timeout, func() error {
		ctx, cancel := c.context()
		defer cancel()
		state, joined, err := c.members(ctx, string(group))
		if err == nil && (state != "Stable" && members > 0 || joined != members) {
			err = fmt.Errorf("group %s is %s with %d members, want %d", group, state, joined, members)
		}
		return err
	})
}

// members asks for a group of either protocol: a broker describes the classic ones and those of KIP-848 by different
// requests, and knows a group of the other kind not at all.
func (c *Cluster) members(ctx context.Context, group string) (state string, members int, err error) {
	c.t.Helper()
	if described, err := c.Admin().DescribeConsumerGroups(ctx, group); err == nil && described[group].Err == nil {
		return described[group].State, len(described[group].Members), nil
	}
	described, err := c.Admin().DescribeGroups(ctx, group)
	if err := errors.Join(err, described[group].Err); errors.Is(err, kerr.GroupIDNotFound) {
		return "absent", 0, nil
	} else if err != nil {
		return "", 0, err
	}
	return described[group].State, len(described[group].Members), nil
}
