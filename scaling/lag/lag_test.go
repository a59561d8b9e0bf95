package lag

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const group = "sluice-orders"

// kafka is a fake cluster with a client beside every group.
type kafka struct {
	*kfake.Cluster
	client *kgo.Client
	admin  *kadm.Client
}

func start(t *testing.T, opts ...kfake.Opt) *kafka {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(2), kfake.DefaultNumPartitions(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	k := &kafka{Cluster: cluster}
	k.client = k.connect(t)
	k.admin = kadm.NewClient(k.client)
	return k
}

func (k *kafka) connect(t *testing.T, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(k.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (k *kafka) topic(t *testing.T, name string, partitions int32) {
	t.Helper()
	if _, err := k.admin.CreateTopic(t.Context(), partitions, 1, nil, name); err != nil {
		t.Fatal(err)
	}
}

func (k *kafka) produce(t *testing.T, topic string, partition int32, n int) {
	t.Helper()
	k.produceAt(t, topic, partition, n, time.Now())
}

func (k *kafka) produceAt(t *testing.T, topic string, partition int32, n int, at time.Time) {
	t.Helper()
	for i := range n {
		r := &kgo.Record{Topic: topic, Partition: partition, Value: fmt.Append(nil, i), Timestamp: at}
		if err := k.client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func (k *kafka) commit(t *testing.T, topic string, partition int32, at int64) {
	t.Helper()
	var os kadm.Offsets
	os.AddOffset(topic, partition, at, -1)
	if err := k.admin.CommitAllOffsets(t.Context(), group, os); err != nil {
		t.Fatal(err)
	}
}

func (k *kafka) deleteUpTo(t *testing.T, topic string, partition int32, at int64) {
	t.Helper()
	var os kadm.Offsets
	os.AddOffset(topic, partition, at, -1)
	if _, err := k.admin.DeleteRecords(t.Context(), os); err != nil {
		t.Fatal(err)
	}
}

func ask(topics ...string) Query { return Query{Group: group, Topics: topics} }

// Faults of others: lag was shown as 0 with a backlog, or as a backlog where there was none, in partitions that were
// never committed. All eight.
func TestNoCommitIsNotAmbiguous(t *testing.T) {
	k := start(t)
	for i, c := range []struct {
		latest, committed bool // with a commit, 10 records were read
		backlog           int  // and so many are not
		want              int64
	}{
		{latest: true, committed: false, backlog: 0, want: 0},
		{latest: true, committed: false, backlog: 20, want: 0},
		{latest: true, committed: true, backlog: 0, want: 0},
		{latest: true, committed: true, backlog: 20, want: 20},
		{latest: false, committed: false, backlog: 0, want: 0},
		{latest: false, committed: false, backlog: 20, want: 20},
		{latest: false, committed: true, backlog: 0, want: 0},
		{latest: false, committed: true, backlog: 20, want: 20},
	} {
		t.Run(fmt.Sprintf("latest=%t committed=%t backlog=%d", c.latest, c.committed, c.backlog), func(t *testing.T) {
			topic := fmt.Sprintf("t%d", i)
			k.topic(t, topic, 1)
			if c.committed {
				k.produce(t, topic, 0, 10)
				k.commit(t, topic, 0, 10)
			}
			k.produce(t, topic, 0, c.backlog)
			q := ask(topic)
			q.Start.Latest = c.latest
			got, err := New(k.client).Read(t.Context(), q)
			if err != nil || got.Sum() != c.want {
				t.Errorf("lag %d %v, want %d", got.Sum(), err, c.want)
			}
		})
	}
	t.Run("an empty partition has no lag, wherever one starts", func(t *testing.T) {
		k.topic(t, "empty", 3)
		for _, s := range []Start{{}, {Latest: true}, {At: time.Now().Add(-time.Hour)}} {
			got, err := New(k.client).Read(t.Context(), Query{Group: group, Topics: []string{"empty"}, Start: s})
			if err != nil || got.Sum() != 0 || len(got.Partitions) != 3 {
				t.Errorf("%+v: %+v %v", s, got, err)
			}
		}
	})
}

func TestPositions(t *testing.T) {
	k := start(t)
	cases := []struct {
		name             string
		produce, deleted int
		committed        int64 // -1 for none
		start            Start
		want             Partition
	}{
		{"committed below the log start: only what is left counts", 520, 500, 10, Start{}, Partition{Start: 500, End: 520, Committed: 10, Lag: 20}},
		{"committed beyond the end (a topic made anew) is no lag", 5, 0, 500, Start{}, Partition{End: 5, Committed: 500}},
		{"never committed, some deleted", 30, 10, -1, Start{}, Partition{Start: 10, End: 30, Committed: None, Lag: 20}},
		{"committed at 0 is not the same as never", 30, 0, 0, Start{Latest: true}, Partition{End: 30, Lag: 30}},
		{"all is deleted", 30, 30, 10, Start{}, Partition{Start: 30, End: 30, Committed: 10}},
		{"committed in full", 30, 0, 30, Start{}, Partition{End: 30, Committed: 30}},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			topic := fmt.Sprintf("positions-%d", i)
			k.topic(t, topic, 1)
			k.produce(t, topic, 0, c.produce)
			if c.deleted > 0 {
				k.deleteUpTo(t, topic, 0, int64(c.deleted))
			}
			if c.committed >= 0 {
				k.commit(t, topic, 0, c.committed)
			}
			c.want.Topic = topic
			q := ask(topic)
			q.Start = c.start
			got, err := New(k.client).Read(t.Context(), q)
			if err != nil || !slices.Equal(got.Partitions, []Partition{c.want}) {
				t.Errorf("got %+v %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestStartAtATime(t *testing.T) {
	k := start(t)
	k.topic(t, "orders", 3)
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for p := range int32(3) {
		k.produceAt(t, "orders", p, 10, noon)
		k.produceAt(t, "orders", p, 5, noon.Add(time.Hour))
	}
	k.commit(t, "orders", 2, 1)
	for name, c := range map[string]struct {
		at   time.Time
		want []int64
	}{
		"between":         {noon.Add(time.Minute), []int64{5, 5, 14}},
		"before all":      {noon.Add(-time.Minute), []int64{15, 15, 14}},
		"after all":       {noon.Add(2 * time.Hour), []int64{0, 0, 14}},
		"exactly at some": {noon.Add(time.Hour), []int64{5, 5, 14}},
	} {
		q := ask("orders")
		q.Start.At = c.at
		got, err := New(k.client).Read(t.Context(), q)
		if err != nil || len(got.Partitions) != 3 {
			t.Fatalf("%s: %+v %v", name, got, err)
		}
		for i, want := range c.want {
			if got.Partitions[i].Lag != want {
				t.Errorf("%s: partition %d: lag %d, want %d", name, i, got.Partitions[i].Lag, want)
			}
		}
	}
}

// Faults of others: a group that has read all transactions showed lag for ever. The end is the last stable offset, and
// open transactions do not count.
func TestTransactions(t *testing.T) {
	k := start(t)
	k.topic(t, "orders", 1)
	client := k.connect(t, kgo.TransactionalID("tx"))
	transaction := func(end kgo.TransactionEndTry) {
		t.Helper()
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Value: []byte("x")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		transaction(i%3 != 0) // some are aborted
	}
	// Each transaction is a record and a marker; the feed commits past markers.
	k.commit(t, "orders", 0, 20)
	got, err := New(k.client).Read(t.Context(), ask("orders"))
	if err != nil || got.Sum() != 0 || got.Partitions[0].End != 20 {
		t.Errorf("all read: %+v %v", got, err)
	}

	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Value: []byte("open")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	got, err = New(k.client).Read(t.Context(), ask("orders"))
	if err != nil || got.Sum() != 0 {
		t.Errorf("an open transaction cannot be read yet and is no lag: %+v %v", got, err)
	}
	if err := client.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	if got, err = New(k.client).Read(t.Context(), ask("orders")); err != nil || got.Sum() != 2 {
		t.Errorf("committed: %+v %v, want the record and its marker", got, err)
	}
}

func TestTopicsByExpression(t *testing.T) {
	k := start(t)
	for _, name := range []string{"orders-eu", "orders-us", "returns"} {
		k.topic(t, name, 2)
		k.produce(t, name, 1, 3)
	}
	q := Query{Group: group, Regex: regexp.MustCompile("^orders-.*$")}
	got, err := New(k.client).Read(t.Context(), q)
	if err != nil || got.Sum() != 6 || got.WithLag() != 2 || len(got.Partitions) != 4 {
		t.Errorf("%+v %v", got, err)
	}
	q.Regex = regexp.MustCompile("^nothing$")
	if got, err = New(k.client).Read(t.Context(), q); err != nil || len(got.Partitions) != 0 {
		t.Errorf("an expression that matches nothing: %+v %v", got, err)
	}
}

// Faults of others: a failed reading was taken for 0, and everything scaled in.
func TestWhatCannotBeReadIsUnknownAndNotZero(t *testing.T) {
	k := start(t)
	k.topic(t, "orders", 4)
	k.produce(t, "orders", 0, 5)
	r := New(k.client)

	t.Run("a missing topic", func(t *testing.T) {
		got, err := r.Read(t.Context(), ask("orders", "gone"))
		if !errors.Is(err, kerr.UnknownTopicOrPartition) || !strings.Contains(err.Error(), "topic gone") {
			t.Errorf("error: %v", err)
		}
		if got.Sum() != 5 || len(got.Partitions) != 4 {
			t.Errorf("what is known: %+v", got)
		}
		if topics, err := k.admin.ListTopics(t.Context()); err != nil || topics.Has("gone") {
			t.Errorf("asking for its lag has made the topic: %v", err)
		}
	})
	t.Run("a group that may not be read", func(t *testing.T) {
		k := start(t)
		k.topic(t, "orders", 4)
		k.ControlKey(int16(kmsg.OffsetFetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
			resp.ErrorCode = kerr.GroupAuthorizationFailed.Code
			for _, g := range req.(*kmsg.OffsetFetchRequest).Groups {
				rg := kmsg.NewOffsetFetchResponseGroup()
				rg.Group, rg.ErrorCode = g.Group, kerr.GroupAuthorizationFailed.Code
				resp.Groups = append(resp.Groups, rg)
			}
			return resp, nil, true
		})
		got, err := New(k.client).Read(t.Context(), ask("orders"))
		if !errors.Is(err, kerr.GroupAuthorizationFailed) || !strings.Contains(err.Error(), group) || len(got.Partitions) != 0 {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("a partition whose end cannot be told", func(t *testing.T) {
		k := start(t)
		k.topic(t, "orders", 4)
		k.produce(t, "orders", 0, 5)
		k.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			list := req.(*kmsg.ListOffsetsRequest)
			resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
			for _, rt := range list.Topics {
				t := kmsg.NewListOffsetsResponseTopic()
				t.Topic = rt.Topic
				for _, rp := range rt.Partitions {
					p := kmsg.NewListOffsetsResponseTopicPartition()
					p.Partition, p.Offset = rp.Partition, 0
					if rp.Timestamp == -1 {
						p.Offset = 7
					}
					if rp.Partition == 2 {
						p.ErrorCode, p.Offset = kerr.KafkaStorageError.Code, -1
					}
					t.Partitions = append(t.Partitions, p)
				}
				resp.Topics = append(resp.Topics, t)
			}
			return resp, nil, true
		})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		got, err := New(k.connect(t, kgo.RequestRetries(0))).Read(ctx, ask("orders"))
		if err == nil || !strings.Contains(err.Error(), "orders-2: KAFKA_STORAGE_ERROR") || len(got.Partitions) != 3 {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("a cluster that is away", func(t *testing.T) {
		k := start(t)
		k.topic(t, "orders", 4)
		r := New(k.client)
		k.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		got, err := r.Read(ctx, ask("orders"))
		if err == nil || len(got.Partitions) != 0 {
			t.Errorf("%+v %v", got, err)
		}
	})
}

// Faults of others: lag was fetched partition by partition. 1 500 partitions, 250 ms for each round trip: under 5 s, in
// requests that do not grow with the partitions, and no other group is touched.
func TestManyPartitionsFewRequests(t *testing.T) {
	k := start(t, kfake.NumBrokers(3))
	k.topic(t, "wide", 1500)
	k.commit(t, "wide", 7, 0)
	client := k.connect(t)
	var requests atomic.Int32
	groups := make(chan string, 100)
	k.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		switch r := req.(type) {
		case *kmsg.ListOffsetsRequest, *kmsg.MetadataRequest:
		case *kmsg.OffsetFetchRequest:
			groups <- r.Group
			for _, g := range r.Groups {
				groups <- g.Group
			}
		case *kmsg.FindCoordinatorRequest:
			groups <- r.CoordinatorKey
			for _, key := range r.CoordinatorKeys {
				groups <- key
			}
		case *kmsg.ApiVersionsRequest:
			return nil, nil, false
		default:
			t.Errorf("unexpected %s", kmsg.NameForKey(req.Key()))
		}
		requests.Add(1)
		k.SleepControl(func() { time.Sleep(250 * time.Millisecond) })
		return nil, nil, false
	})
	began := time.Now()
	got, err := New(client).Read(t.Context(), ask("wide"))
	took := time.Since(began)
	if err != nil || len(got.Partitions) != 1500 || got.Partitions[7].Committed != 0 || got.Partitions[8].Committed != None {
		t.Fatalf("%d partitions, %v", len(got.Partitions), err)
	}
	if took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	// Metadata once or twice, the coordinator, the offsets, and the bounds from each of three brokers.
	if n := requests.Load(); n > 12 {
		t.Errorf("%d requests", n)
	}
	close(groups)
	for g := range groups {
		if g != group && g != "" {
			t.Errorf("asked about group %q", g)
		}
	}
	t.Logf("%d requests in %s", requests.Load(), took)
}

func TestNoTopicsMeansNoneAndNotAll(t *testing.T) {
	k := start(t)
	k.topic(t, "orders", 1)
	got, err := New(k.client).Read(t.Context(), ask())
	if err != nil || len(got.Partitions) != 0 {
		t.Errorf("%+v %v", got, err)
	}
}
