package group_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// A partition that is offline, or whose leader has just moved, has no bounds to list. It waits; the others do not, and
// the group is not asked to rebalance for it again and again.
func TestAPartitionThatCannotBeListedHoldsUpNoOther(t *testing.T) {
	for name, start := range map[string]group.Position{"TRIM_HORIZON": group.TrimHorizon, "AT_TIMESTAMP": group.AtTimestamp} {
		t.Run(name, func(t *testing.T) {
			c := kafkatest.Fake(t, kafkatest.Options{Brokers: 3})
			c.CreateTopic("orders", 9, nil)
			produce(c, "orders", 9, 900)
			var offline atomic.Int32
			offline.Store(c.Kfake().LeaderFor("orders", 0))
			served := 0
			for p := range 9 {
				if c.Kfake().LeaderFor("orders", int32(p)) != offline.Load() {
					served++
				}
			}
			joins := refuseOffsetsOf(c, &offline)
			fn := target(fine)
			m := join(t, c, "m", []string{"orders"}, fn, options{config: func(g *group.Config) {
				g.Start, g.StartAt = start, time.UnixMilli(1)
			}})
			until(t, "the partitions of the other brokers are done", func() bool { return len(fn.taken()) == 100*served })
			if n := joins(); n > 2 {
				t.Errorf("joined %d times", n)
			}
			offline.Store(-1)
			c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
			m.stop()
		})
	}
}

// Where the group has committed offsets there is nothing to list them for.
func TestCommittedPartitionsStartWithoutTheirBounds(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 3, nil)
	produce(c, "orders", 3, 30)
	fn := target(fine)
	o := options{config: func(g *group.Config) { g.Start = group.Latest }}
	m := join(t, c, "m", []string{"orders"}, fn, o)
	until(t, "positions are committed", func() bool { return len(c.Committed("g-m")) == 3 })
	m.stop()
	produce(c, "orders", 3, 30)
	var offline atomic.Int32
	offline.Store(c.Kfake().LeaderFor("orders", 0))
	refuseOffsetsOf(c, &offline)
	m = join(t, c, "m", []string{"orders"}, fn, o)
	until(t, "all since are taken", func() bool { return len(fn.taken()) == 30 })
	m.stop()
	for p := range 3 {
		tp := record.TopicPartition{Topic: "orders", Partition: int32(p)}
		if at := c.Committed("g-m")[tp]; at != 20 {
			t.Errorf("%s: committed %d, want 20", tp, at)
		}
	}
}

// refuseOffsetsOf has a broker list no offsets, and counts the joins of groups.
func refuseOffsetsOf(c *kafkatest.Cluster, node *atomic.Int32) (joins func() int32) {
	var n atomic.Int32
	k := c.Kfake()
	k.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if k.CurrentNode() != node.Load() {
			return nil, nil, false
		}
		return refuseList(req, kerr.LeaderNotAvailable), nil, true
	})
	k.ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		n.Add(1)
		return nil, nil, false
	})
	return n.Load
}
