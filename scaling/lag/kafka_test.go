package lag

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// kafka is a cluster with a client beside every group; real_test.go makes one of the real thing.
type kafka struct {
	*kfake.Cluster // nil for real Kafka
	seeds          []string
	client         *kgo.Client
	admin          *kadm.Client
	group          record.GroupID
	prefix         string // of the names of topics
}

// start makes a kfake.
func start(t *testing.T, opts ...kfake.Opt) *kafka {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(2)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return connect(t, cluster, cluster.ListenAddrs(), "")
}

func connect(t *testing.T, cluster *kfake.Cluster, seeds []string, prefix string) *kafka {
	k := &kafka{Cluster: cluster, seeds: seeds, prefix: prefix, group: record.GroupID(prefix + "sluice-orders")}
	k.client = k.connect(t)
	k.admin = kadm.NewClient(k.client)
	return k
}

func (k *kafka) name(topic string) string { return k.prefix + topic }

func (k *kafka) connect(t *testing.T, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(k.seeds...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.MetadataMinAge(50 * time.Millisecond),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// topic makes a topic, and waits until its partitions have leaders that know it.
func (k *kafka) topic(t *testing.T, name string, partitions int32) {
	t.Helper()
	if _, err := k.admin.CreateTopic(t.Context(), partitions, 1, nil, k.name(name)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		ends, err := k.admin.ListEndOffsets(t.Context(), k.name(name))
		if err == nil && ends.Error() == nil && len(ends[k.name(name)]) == int(partitions) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("topic %s: %v %v", k.name(name), ends, err)
		}
	}
}

func (k *kafka) produce(t *testing.T, topic string, partition int32, n int) {
	t.Helper()
	k.produceAt(t, topic, partition, n, time.Now())
}

func (k *kafka) produceAt(t *testing.T, topic string, partition int32, n int, at time.Time) {
	t.Helper()
	for i := range n {
		r := &kgo.Record{Topic: k.name(topic), Partition: partition, Value: fmt.Append(nil, i), Timestamp: at}
		if err := k.client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func (k *kafka) commit(t *testing.T, topic string, partition int32, at int64) {
	t.Helper()
	var os kadm.Offsets
	os.AddOffset(k.name(topic), partition, at, -1)
	if err := k.admin.CommitAllOffsets(t.Context(), string(k.group), os); err != nil {
		t.Fatal(err)
	}
}

func (k *kafka) deleteUpTo(t *testing.T, topic string, partition int32, at int64) {
	t.Helper()
	var os kadm.Offsets
	os.AddOffset(k.name(topic), partition, at, -1)
	if _, err := k.admin.DeleteRecords(t.Context(), os); err != nil {
		t.Fatal(err)
	}
}

func (k *kafka) ask(topics ...string) Query {
	q := Query{Group: k.group}
	for _, t := range topics {
		q.Topics = append(q.Topics, k.name(t))
	}
	return q
}

// read reads the lag; a Kafka that has just started may have no coordinator yet.
func (k *kafka) read(t *testing.T, q Query) (Reading, error) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		got, err := New(k.client).Read(t.Context(), q)
		if !errors.Is(err, kerr.CoordinatorNotAvailable) && !errors.Is(err, kerr.NotCoordinator) || time.Now().After(deadline) {
			return got, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}
