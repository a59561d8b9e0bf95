package topic

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

var (
	quiet   = slog.New(slog.DiscardHandler)
	now     = time.Date(2026, 11, 30, 10, 15, 30, 123e6, time.UTC)
	written = time.Date(2026, 11, 30, 10, 15, 1, 0, time.UTC)
)

// world is a kfake with a producer.
type world struct {
	t        *testing.T
	kfake    *kfake.Cluster
	cluster  kafka.Cluster
	producer *Producer
}

func newWorld(t *testing.T, opts ...kfake.Opt) *world {
	t.Helper()
	fake, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.ClusterID("here")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	w := &world{t: t, kfake: fake, cluster: kafka.Cluster{Name: "main", BootstrapServers: fake.ListenAddrs()}}
	w.producer, err = NewProducer(w.cluster, quiet, kgo.MetadataMinAge(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.producer.Close)
	return w
}

func (w *world) create(topic string, partitions int32, configs map[string]string) {
	w.t.Helper()
	create := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, partitions, 1
	for name, value := range configs {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = name, &value
		rt.Configs = append(rt.Configs, c)
	}
	create.Topics = append(create.Topics, rt)
	resp, err := create.RequestWith(w.t.Context(), w.producer.client)
	if err != nil || resp.Topics[0].ErrorCode != 0 {
		w.t.Fatalf("create topic %s: %v %v", topic, err, kerr.ErrorForCode(resp.Topics[0].ErrorCode))
	}
}

// topic is the dead-letter topic dlq as seen by mapping m of topic orders.
func (w *world) topic(edit func(*Config)) *Topic {
	w.t.Helper()
	config := Config{
		Producer: w.producer, Topic: "dlq", Mapping: "m", Timeout: 10 * time.Second,
		FunctionARN: "arn:aws:lambda:us-west-2:111122223333:function:my-function:$LATEST",
		Source:      invoke.Source{BootstrapServers: []string{"broker1.example.com:9092"}},
		Now:         func() time.Time { return now },
	}
	if edit != nil {
		edit(&config)
	}
	topic, err := New(config)
	if err != nil {
		w.t.Fatal(err)
	}
	return topic
}

// read returns all records of a topic, by partition and offset.
func (w *world) read(topic string, n int) []*kgo.Record {
	w.t.Helper()
	cl, err := kafka.NewClient(w.cluster, quiet, kgo.ConsumeTopics(topic))
	if err != nil {
		w.t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	var all []*kgo.Record
	for len(all) < n {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			w.t.Fatalf("read %s: %v after %d of %d records", topic, err, len(all), n)
		}
		all = append(all, fetches.Records()...)
	}
	slices.SortFunc(all, func(a, b *kgo.Record) int {
		return int(a.Partition-b.Partition)<<20 + int(a.Offset-b.Offset)
	})
	return all
}

// failedRun makes a run of orders-3 with these values, given up after four attempts.
func failedRun(values ...string) record.Run {
	run := record.Run{TopicPartition: record.TopicPartition{Topic: "orders", Partition: 3}, Retry: &record.Retry{
		Attempts: 4, Invocations: 6, GiveUp: record.RetryAttemptsExhausted,
		Last: record.Failure{
			Kind: "FunctionError", Status: 500, Type: "ValueError", Message: "no such order", RequestID: "316aa6d0",
		},
	}}
	for i, v := range values {
		run.Records = append(run.Records, &record.Record{
			Topic: "orders", Partition: 3, Offset: int64(1500 + i), Timestamp: written, Value: []byte(v),
			Key: fmt.Appendf(nil, "key-%d", i),
		})
	}
	return run
}

func headersOf(r *kgo.Record) string {
	var b strings.Builder
	for _, h := range r.Headers {
		fmt.Fprintf(&b, "%s: %s\n", h.Key, h.Value)
	}
	return b.String()
}

// noise is text that does not compress.
func noise(n int) string {
	b := make([]byte, n)
	state := uint64(n) + 1
	for i := range b {
		state = state*6364136223846793005 + 1442695040888963407
		b[i] = byte(state >> 56)
	}
	return string(b)
}
