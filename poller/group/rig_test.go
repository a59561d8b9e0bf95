package group_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// member is one process's share of a mapping: a feed and its pollers.
type member struct {
	t       *testing.T
	feed    *group.Feed
	pool    *poller.Pool
	metrics *metric.Mapping
}

type options struct {
	config  func(*group.Config)
	policy  failure.Policy
	pollers int
	dest    failure.Destination
	partial bool
	rand    func() float64 // of the pauses; rand.Float64 if nil
}

// join starts a member on the cluster.
func join(t *testing.T, c *kafkatest.Cluster, id string, topics []string, fn invoke.Function, o options) *member {
	t.Helper()
	metrics := metric.New().Mapping(id)
	encoder := invoke.NewEncoder(invoke.Source{BootstrapServers: c.Bootstrap()})
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	config := group.Config{
		Mapping: id, Group: record.GroupID("g-" + id), Topics: topics,
		Limits: inflight.Limits{BatchRecords: 10, BatchBytes: 6 << 20},
		Sizes:  inflight.Sizes{Event: encoder.Overhead(), Run: encoder.RunOverhead, Record: encoder.RecordSize},
		Gate:   poller.NewGate(circuit.Limits{}), DrainTimeout: 5 * time.Second, CommitInterval: 50 * time.Millisecond,
		Dial: func(opts ...kgo.Opt) (*kgo.Client, error) {
			return kgo.NewClient(append(opts, c.ClientOptions()...)...)
		},
		Choose: protocol.choose, Metrics: metrics, Log: log,
	}
	if o.config != nil {
		o.config(&config)
	}
	if o.rand == nil {
		o.rand = rand.Float64
	}
	feed := group.New(config)
	if err := feed.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	pool := poller.NewPool(poller.Config{
		Mapping: id, Feed: feed, Function: fn, Gate: config.Gate, Encoder: encoder, BatchBytesMax: config.Limits.BatchBytes,
		Buffers: invoke.NewBuffers(1 << 20), Policy: &o.policy, PartialResponses: o.partial, Destination: o.dest,
		Concurrency: 5, Metrics: metrics, Watch: &poller.Watch{}, Log: log, Rand: o.rand,
	})
	pool.Resize(max(1, o.pollers))
	m := &member{t: t, feed: feed, pool: pool, metrics: metrics}
	t.Cleanup(m.stop)
	return m
}

// forget frees a member that has stopped, which the test's cleanup would hold on to.
func (m *member) forget() { m.feed, m.pool, m.metrics = nil, nil, nil }

// stop drains and leaves; it may be called again.
func (m *member) stop() {
	if m.pool == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := m.pool.Close(ctx); err != nil {
		m.t.Errorf("closing the pool: %v", err)
	}
	if err := m.feed.Stop(ctx); err != nil {
		m.t.Errorf("stopping the feed: %v", err)
	}
}

// ids names the records of an event as topic-partition@offset.
func ids(body []byte) []string {
	var event events.KafkaEvent
	if err := json.Unmarshal(body, &event); err != nil {
		panic(err)
	}
	var out []string
	for _, recs := range event.Records {
		for _, r := range recs {
			out = append(out, fmt.Sprintf("%s-%d@%d", r.Topic, r.Partition, r.Offset))
		}
	}
	return out
}

// target makes a function of an answer.
func target(answer func(call int, ids []string) (invoke.Response, error)) *scripted {
	return &scripted{answer: answer}
}

// scripted is a function in the process that writes down every call and answers by script.
type scripted struct {
	answer func(call int, ids []string) (invoke.Response, error)

	mu    sync.Mutex
	calls []call
}

type call struct {
	ids         []string
	attempt     int
	batchID     string
	began, done time.Time
	failed      bool
}

// Invoke is invoke.Function's.
func (s *scripted) Invoke(ctx context.Context, req *invoke.Request) (invoke.Response, error) {
	began := time.Now()
	in := ids(req.Body)
	s.mu.Lock()
	n := len(s.calls)
	s.calls = append(s.calls, call{ids: in, attempt: req.Attempt, batchID: req.BatchID, began: began})
	s.mu.Unlock()
	resp, err := s.answer(n, in)
	if ctx.Err() != nil {
		err = &invoke.Error{Kind: invoke.Canceled, Err: ctx.Err()}
	}
	s.mu.Lock()
	s.calls[n].done, s.calls[n].failed = time.Now(), err != nil
	s.mu.Unlock()
	return resp, err
}

// taken counts how often each record was in a successful call.
func (s *scripted) taken() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for _, c := range s.calls {
		if !c.failed && !c.done.IsZero() {
			for _, id := range c.ids {
				out[id]++
			}
		}
	}
	return out
}

// forget frees what was written down.
func (s *scripted) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

func (s *scripted) list() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]call(nil), s.calls...)
}

// until waits for a condition.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited 30 s for: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// produce writes n records with the keys "0", "1", … spread over the partitions.
func produce(c *kafkatest.Cluster, topic string, partitions, n int) {
	recs := make([]*kgo.Record, 0, n)
	for i := range n {
		recs = append(recs, &kgo.Record{
			Topic: topic, Partition: int32(i % partitions), Key: []byte(fmt.Sprint(i)), Value: []byte(fmt.Sprintf("value %d", i)),
		})
	}
	c.Produce(recs...)
}

var discard = slog.New(slog.DiscardHandler)

// plainSizes are sizes that no test looks at.
var plainSizes = inflight.Sizes{
	Run:    func(record.TopicPartition) int { return 10 },
	Record: func(*record.Record) int { return 10 },
}
