package kafkatest

import (
	"errors"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sluicehq/sluice/record"
)

// Coordinator is the broker (1, 2, 3) that coordinates a group.
func (c *Cluster) Coordinator(group record.GroupID) int {
	c.t.Helper()
	id := 0
	c.poll(requestTimeout, func() error {
		ctx, cancel := c.context()
		defer cancel()
		found := c.Admin().FindGroupCoordinators(ctx, string(group))
		id = int(found[string(group)].NodeID)
		return errors.Join(found.Error(), found[string(group)].Err)
	})
	return id
}

// MoveLeaders has the next replica of each partition of the topics lead it: with __consumer_offsets among them, every
// group gets another coordinator. Nothing is copied. It needs as many replicas as brokers, all of them in sync.
func (c *Cluster) MoveLeaders(topics ...string) {
	c.t.Helper()
	ctx, cancel := c.context()
	defer cancel()
	listed, err := c.Admin().ListTopics(ctx, topics...)
	c.must("list topics", errors.Join(err, listed.Error()))
	var change kadm.AlterPartitionAssignmentsReq
	for _, topic := range listed {
		for _, p := range topic.Partitions {
			at := slices.Index(p.Replicas, p.Leader) + 1
			change.Assign(topic.Topic, p.Partition, slices.Concat(p.Replicas[at:], p.Replicas[:at]))
		}
	}
	changed, err := c.Admin().AlterPartitionAssignments(ctx, change)
	c.must("reassign partitions", errors.Join(err, changed.Error()))
	_, err = c.Admin().ElectLeaders(ctx, kadm.ElectPreferredReplica, listed.TopicsSet())
	c.must("elect the preferred leaders", err)
}

// AllDown kills all brokers, and starts them again when meanwhile returns. It returns when they answer.
func (c *Cluster) AllDown(meanwhile func()) {
	c.t.Helper()
	brokers := c.mustReal("AllDown").Brokers()
	for id := 1; id <= brokers; id++ {
		c.Kill(id)
	}
	meanwhile()
	errs := make([]error, brokers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = c.real.Restart(c.t.Context(), i+1) }) // a broker answers when most of them run
	}
	wg.Wait()
	c.must("restart all brokers", errors.Join(errs...))
}
