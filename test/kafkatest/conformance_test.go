package kafkatest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

func TestHelpersOnKfake(t *testing.T) {
	helpers(t, kafkatest.Fake(t, kafkatest.Options{}))
}

func TestHelpersOnKfakeWithThreeBrokers(t *testing.T) {
	helpers(t, kafkatest.Fake(t, kafkatest.Options{Brokers: 3}))
}

// helpers is what every Kafka that a test may get must do alike.
func helpers(t *testing.T, c *kafkatest.Cluster) {
	topic, group := c.Name("topic"), record.GroupID(c.Name("group"))
	c.CreateTopic(topic, 3, map[string]string{"retention.ms": "3600000"})
	for tp, end := range c.EndOffsets(topic) {
		if end != 0 {
			t.Errorf("a new topic ends at %s@%d", tp, end)
		}
	}
	if committed := c.Committed(group); len(committed) != 0 {
		t.Errorf("a group that does not exist has committed %v", committed)
	}

	var chosen []*kgo.Record
	for i := range 30 {
		chosen = append(chosen, &kgo.Record{Topic: topic, Partition: int32(i % 2), Value: fmt.Appendf(nil, "%d", i)})
	}
	c.Produce(chosen...)
	c.Produce(&kgo.Record{Topic: topic, Partition: kafkatest.AnyPartition, Key: []byte("k")})
	c.ProduceTransaction(true, &kgo.Record{Topic: topic, Partition: 2, Value: []byte("committed")})
	c.ProduceTransaction(false, &kgo.Record{Topic: topic, Partition: 2, Value: []byte("aborted")})

	values := map[string]int{}
	for _, r := range c.Records(topic) {
		values[string(r.Value)]++
	}
	if len(values) != 32 || values["committed"] != 1 || values["aborted"] != 0 {
		t.Errorf("the topic holds %v", values)
	}

	if lag := c.Lag(group, topic); len(lag) != 3 {
		t.Errorf("lag before anything is committed: %v", lag)
	}
	member := c.Client(kgo.ConsumerGroup(string(group)), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AutoCommitInterval(100*time.Millisecond),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords()) // else the last markers stay uncommitted
	go func() {
		for t.Context().Err() == nil {
			member.PollFetches(t.Context())
		}
	}()
	c.WaitMembers(group, 1, 30*time.Second)
	c.WaitLagZero(group, []string{topic}, 30*time.Second)
	if committed, ends := c.Committed(group), c.EndOffsets(topic); fmt.Sprint(committed) != fmt.Sprint(ends) {
		t.Errorf("committed %v, want the ends %v", committed, ends)
	}
	member.Close()
	c.WaitMembers(group, 0, 30*time.Second)
}
