package group_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// Compaction can empty the end of a log: the broker then answers a fetch there with no records and an end that lies
// ahead. The probe passes it; it passes nothing where there is a record.
func TestAnEmptiedEndOfALogIsPassed(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	produce(c, "orders", 1, 5)
	tp := record.TopicPartition{Topic: "orders"}
	fn := target(fine)
	m := join(t, c, "m", []string{"orders"}, fn, options{})
	until(t, "the records are committed", func() bool { return c.Committed("g-m")[tp] == 5 })

	var emptied atomic.Bool
	emptied.Store(true)
	c.Kfake().ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.Kfake().KeepControl()
		if !emptied.Load() {
			return nil, nil, false
		}
		return emptyAnswer(req.(*kmsg.FetchRequest), 8), nil, true
	})
	if err := m.feed.Probe(t.Context(), []record.TopicPartition{tp}); err != nil {
		t.Fatal(err)
	}
	until(t, "the emptied end is committed", func() bool { return c.Committed("g-m")[tp] == 8 })
	emptied.Store(false)
	m.stop()
}

// emptyAnswer is what a broker says whose log has no records up to end.
func emptyAnswer(req *kmsg.FetchRequest, end int64) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	for _, rt := range req.Topics {
		t := kmsg.NewFetchResponseTopic()
		t.Topic, t.TopicID = rt.Topic, rt.TopicID
		for _, rp := range rt.Partitions {
			p := kmsg.NewFetchResponseTopicPartition()
			p.Partition, p.HighWatermark, p.LastStableOffset = rp.Partition, end, end
			t.Partitions = append(t.Partitions, p)
		}
		resp.Topics = append(resp.Topics, t)
	}
	time.Sleep(10 * time.Millisecond)
	return resp
}

func TestAProbePassesNoRecord(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	fn := target(fine)
	m := join(t, c, "m", []string{"orders"}, fn, options{})
	tp := record.TopicPartition{Topic: "orders"}
	until(t, "the partition is ours", func() bool { return len(m.feed.States()) == 1 })
	for i := range 20 {
		c.Produce(&kgo.Record{Topic: "orders", Value: []byte{byte(i)}})
		if err := m.feed.Probe(t.Context(), []record.TopicPartition{tp}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "all are taken", func() bool { return len(fn.taken()) == 20 })
	m.stop()
}

// Tiered storage answers a fetch of what is not on the broker's disk any more with nothing, and no error, when the remote
// store is slow (Kafka, DelayedRemoteFetch). There are records all the same.
func TestAProbePassesNothingThatLiesInRemoteStorage(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	tp := record.TopicPartition{Topic: "orders"}
	m := join(t, c, "m", []string{"orders"}, target(fine), options{})
	until(t, "the partition is ours", func() bool { return len(m.feed.States()) == 1 })
	k := c.Kfake()
	k.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		return emptyAnswer(req.(*kmsg.FetchRequest), 8), nil, true
	})
	k.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		const earliestLocal = -4
		if req.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Timestamp != earliestLocal {
			return nil, nil, false
		}
		resp := refuseList(req, &kerr.Error{}).(*kmsg.ListOffsetsResponse)
		resp.Topics[0].Partitions[0].Offset = 7
		return resp, nil, true
	})
	if err := m.feed.Probe(t.Context(), []record.TopicPartition{tp}); err != nil {
		t.Fatal(err)
	}
	if next := m.feed.States()[0].Next; next != 0 {
		t.Errorf("passed the records below %d", next)
	}
	m.stop()
}
