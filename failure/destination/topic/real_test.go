//go:build real

package topic

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// realWorld is a Kafka of the test's own, for these tests stop its broker.
func realWorld(t *testing.T) (*kafkatest.Cluster, *world) {
	t.Helper()
	k := kafkatest.Start(t, kafkatest.Options{})
	w := &world{t: t, cluster: kafka.Cluster{Name: "main", BootstrapServers: k.Bootstrap()}}
	var err error
	w.producer, err = NewProducer(w.cluster, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.producer.Close)
	return k, w
}

// TestRealKafkaRefusals meets what kfake does not refuse, or refuses in its own way.
func TestRealKafkaRefusals(t *testing.T) {
	k, w := realWorld(t)

	t.Run("a compacted topic, unknown until it refuses", func(t *testing.T) {
		k.CreateTopic("compacted", 1, map[string]string{"cleanup.policy": "compact"})
		topic := w.topic(func(c *Config) { c.Topic = "compacted" })
		run := failedRun("a", "b", "c", "d")
		run.Records[1].Key, run.Records[3].Key = nil, nil
		if undelivered, err := topic.Deliver(t.Context(), run); err != nil {
			t.Fatalf("undelivered %d, error %v", len(undelivered), err)
		}
		var keys []string
		for _, r := range k.Records("compacted") {
			keys = append(keys, string(r.Key))
		}
		if want := []string{"key-0", "orders-3@1501", "key-2", "orders-3@1503"}; !slices.Equal(keys, want) {
			t.Errorf("keys %q, want %q", keys, want)
		}
		if warning, err := topic.Check(t.Context()); warning == "" || err != nil {
			t.Errorf("warning %q, error %v", warning, err)
		}
	})

	t.Run("a topic for small batches", func(t *testing.T) {
		k.CreateTopic("small", 1, map[string]string{"max.message.bytes": "2000"})
		run := failedRun("a", noise(300), noise(300), noise(9000), noise(300), noise(300), noise(300), noise(300), "i")
		undelivered, err := w.topic(func(c *Config) { c.Topic = "small" }).Deliver(t.Context(), run)
		if len(undelivered) != 1 || undelivered[0] != run.Records[3] || !strings.Contains(err.Error(), "too large for the topic") {
			t.Errorf("undelivered %d, error %v", len(undelivered), err)
		}
		if got := k.Records("small"); len(got) != 8 {
			t.Errorf("%d records arrived", len(got))
		}
	})

	t.Run("a missing topic that comes", func(t *testing.T) {
		topic := w.topic(func(c *Config) { c.Topic = "late" })
		run := failedRun("a", "b")
		undelivered, err := topic.Deliver(t.Context(), run)
		if len(undelivered) != 2 || !strings.Contains(err.Error(), "the topic does not exist") {
			t.Fatalf("undelivered %d, error %v", len(undelivered), err)
		}
		k.CreateTopic("late", 1, nil)
		until(t, func() bool { undelivered, err = topic.Deliver(t.Context(), run); return err == nil })
		if got := k.Records("late"); len(got) != 2 {
			t.Errorf("%d records arrived", len(got))
		}
	})

	t.Run("the source is recognised by the cluster's id", func(t *testing.T) {
		alias := k.Client(kgo.ClientID("alias"))
		same, err := SameTopic(t.Context(), w.producer.Client(), func(string) bool { return true }, alias, "orders")
		if !same || err != nil {
			t.Errorf("%v, error %v", same, err)
		}
	})
}

// Fault 38, on the worse day: the broker hangs, then dies, then returns. Every record arrives; nothing blocks for longer
// than the time-out.
func TestRealKafkaGoesAway(t *testing.T) {
	k, w := realWorld(t)
	k.CreateTopic("dlq", 1, nil)
	topic := w.topic(func(c *Config) { c.Timeout = 2 * time.Second })
	if _, err := topic.Deliver(t.Context(), failedRun("before")); err != nil {
		t.Fatal(err)
	}
	run := failedRun("a", "b", "c")
	holds := func(when string) {
		t.Helper()
		started := time.Now()
		undelivered, err := topic.Deliver(t.Context(), run)
		if len(undelivered) != 3 || err == nil {
			t.Errorf("%s: undelivered %d, error %v", when, len(undelivered), err)
		}
		if took := time.Since(started); took > 4*time.Second {
			t.Errorf("%s: took %v", when, took)
		}
		t.Logf("%s: %v", when, err)
	}
	k.Freeze(1)
	holds("while it hangs")
	holds("while it still hangs")
	k.Kill(1)
	holds("while it is dead")
	k.Restart(1)
	var undelivered []*record.Record
	until(t, func() bool {
		var err error
		undelivered, err = topic.Deliver(t.Context(), run)
		return err == nil
	})
	if len(undelivered) != 0 {
		t.Errorf("undelivered %d", len(undelivered))
	}
	arrived := map[string]int{}
	for _, r := range k.Records("dlq") {
		arrived[string(r.Value)]++
	}
	for _, v := range []string{"before", "a", "b", "c"} {
		if arrived[v] == 0 {
			t.Errorf("%s is lost", v)
		}
	}
	t.Logf("arrived, duplicates included: %v", arrived)
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within a minute")
		}
	}
}
