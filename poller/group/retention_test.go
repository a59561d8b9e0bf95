package group_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

var orders0 = record.TopicPartition{Topic: "orders"}

func deleteBelow(t *testing.T, c *kafkatest.Cluster, partition int32, offset int64) {
	t.Helper()
	if err := c.Kfake().DeleteRecords("orders", partition, offset); err != nil {
		t.Fatal(err)
	}
}

// monotonic watches what a group commits until the test ends: it may never go back.
func monotonic(t *testing.T, c *kafkatest.Cluster) (committed func() record.Offset) {
	var last record.Offset = -1
	return func() record.Offset {
		at, ok := c.Committed("g-m")[orders0]
		if ok && at < last {
			t.Errorf("the commit went back from %d to %d", last, at)
		}
		if ok {
			last = at
		}
		return last
	}
}

// Fault 5: records are deleted below 100 while the mapping is stopped at 40. It goes on at 100, says what was lost, and
// commits nothing of the old place ever again.
func TestACommitBelowTheLogGoesOnAtItsStart(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	committed := monotonic(t, c)
	fn := target(fine)
	var lines logged
	o := options{config: func(g *group.Config) { g.Start, g.Log = group.Latest, slog.New(&lines) }}
	m := join(t, c, "m", []string{"orders"}, fn, o)
	until(t, "it is ready", m.feed.Joined)
	produce(c, "orders", 1, 40)
	until(t, "40 are committed", func() bool { return committed() == 40 })
	m.stop()
	produce(c, "orders", 1, 60)
	deleteBelow(t, c, 0, 100)
	end := record.Offset(100)
	for restart := range 3 {
		m = join(t, c, "m", []string{"orders"}, fn, o)
		until(t, "the start is committed", func() bool { return committed() == end })
		produce(c, "orders", 1, 1)
		end++
		until(t, "the new record is committed", func() bool { return committed() == end })
		m.stop()
		lost := m.metrics.LostToRetention.ByTopic()["orders"]
		if want := map[bool]int64{true: 60}[restart == 0]; lost != want {
			t.Errorf("start %d: %d counted as lost, want %d", restart, lost, want)
		}
	}
	if n := len(fn.taken()); n != 43 {
		t.Errorf("%d records taken, want 43", n)
	}
	if n := lines.count(`topic=orders partition=0 from=40 to=99 lost=60`); n != 1 {
		t.Errorf("%d lines tell of it, want 1:\n%s", n, lines.text())
	}
}

// Fault 108: retention overtakes a mapping that runs, and that has records in flight. What was fetched is still delivered;
// what was not is counted, to the record, and it goes on at the start of the log.
func TestRetentionOvertakesAMappingThatRuns(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	big := func(n int) {
		for range n {
			c.Produce(&kgo.Record{Topic: "orders", Value: make([]byte, 20<<10)})
		}
	}
	big(300)
	release := make(chan struct{})
	var held atomic.Bool
	fn := target(func(int, []string) (invoke.Response, error) {
		held.Store(true)
		<-release
		return invoke.Response{}, nil
	})
	m := join(t, c, "m", []string{"orders"}, fn, options{config: func(g *group.Config) { g.BufferBytes = 256 << 10 }})
	until(t, "a batch is out and the buffer is full", func() bool {
		_, bytes := m.feed.Buffered()
		return held.Load() && bytes >= 256<<10
	})
	big(50)
	deleteBelow(t, c, 0, 310)
	close(release)
	until(t, "the rest", func() bool { return c.Committed("g-m")[orders0] == 350 })
	taken := fn.taken()
	lost := int64(350 - len(taken))
	if lost <= 0 || lost >= 310 {
		t.Fatalf("%d records taken of 350: the test did not get what it wanted", len(taken))
	}
	for o := range 350 {
		if _, ok := taken[fmt.Sprintf("orders-0@%d", o)]; !ok && o >= 310 {
			t.Errorf("record %d is there and was not taken", o)
		}
	}
	if counted := m.metrics.LostToRetention.Value(); counted != lost {
		t.Errorf("counted %d as lost; %d were", counted, lost)
	}
	m.stop()
}

// Everything that was to come is deleted, and nothing comes after: nothing would move the window on but the probe.
func TestALogThatIsEmptiedIsPassed(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	produce(c, "orders", 1, 30)
	fn := target(fine)
	refuse := refuseFetches(c) // the records are deleted before the first fetch
	m := join(t, c, "m", []string{"orders"}, fn, options{})
	until(t, "it is ready", m.feed.Joined)
	deleteBelow(t, c, 0, 30)
	refuse.Store(false)
	if err := m.feed.Probe(t.Context(), []record.TopicPartition{orders0}); err != nil {
		t.Fatal(err)
	}
	until(t, "the end is committed", func() bool { return c.Committed("g-m")[orders0] == 30 })
	produce(c, "orders", 1, 5)
	c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
	if counted := m.metrics.LostToRetention.Value(); counted != 30 || len(fn.taken()) != 5 {
		t.Errorf("counted %d as lost, %d taken; want 30 and 5", counted, len(fn.taken()))
	}
	m.stop()
}

// refuseFetches has the broker answer fetches with nothing while the flag is set, which it is at first.
func refuseFetches(c *kafkatest.Cluster) *atomic.Bool {
	var refuse atomic.Bool
	refuse.Store(true)
	c.Kfake().ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.Kfake().KeepControl()
		if !refuse.Load() {
			return nil, nil, false
		}
		return fetchErrors(req.(*kmsg.FetchRequest), kerr.NotLeaderForPartition.Code), nil, true
	})
	return &refuse
}

// fetchErrors answers every partition with the same error.
func fetchErrors(req *kmsg.FetchRequest, code int16) *kmsg.FetchResponse {
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	for _, rt := range req.Topics {
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = rt.Topic, rt.TopicID
		for _, rp := range rt.Partitions {
			p := kmsg.NewFetchResponseTopicPartition()
			p.Partition, p.ErrorCode, p.HighWatermark, p.LogStartOffset = rp.Partition, code, -1, -1
			topic.Partitions = append(topic.Partitions, p)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

// Gaps that retention did not make are none of its losses: aborted transactions, and the marks of all.
func TestGapsOfTransactionsAreNotCountedAsLost(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	for i := range 6 {
		c.ProduceTransaction(i%2 == 0, &kgo.Record{Topic: "orders", Value: []byte("x")}, &kgo.Record{Topic: "orders", Value: []byte("y")})
	}
	fn := target(fine)
	m := join(t, c, "m", []string{"orders"}, fn, options{})
	c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
	m.stop()
	if counted := m.metrics.LostToRetention.Value(); counted != 0 || len(fn.taken()) != 6 {
		t.Errorf("counted %d as lost, %d taken; want 0 and 6", counted, len(fn.taken()))
	}
}

// Fault 107: a broker that answers every fetch with «out of range» is asked again and again, without a committed group to
// begin with; the log says so once in ten seconds.
func TestOffsetsOutOfRangeDoNotFloodTheLog(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 4, nil)
	produce(c, "orders", 4, 40)
	var refused atomic.Int32
	var mended atomic.Bool
	c.Kfake().ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.Kfake().KeepControl()
		if mended.Load() {
			return nil, nil, false
		}
		refused.Add(1)
		return fetchErrors(req.(*kmsg.FetchRequest), kerr.OffsetOutOfRange.Code), nil, true
	})
	var lines logged
	fn := target(fine)
	began := time.Now()
	m := join(t, c, "m", []string{"orders"}, fn, options{config: func(g *group.Config) {
		g.Log = slog.New(&lines)
		g.Dial = func(opts ...kgo.Opt) (*kgo.Client, error) {
			return kafka.NewClient(kafka.Cluster{Name: "main", BootstrapServers: c.Bootstrap()}, g.Log, opts...)
		}
	}})
	until(t, "many refusals", func() bool { return refused.Load() >= 20 && time.Since(began) > 4*time.Second })
	text, took := lines.text(), time.Since(began)
	mended.Store(true)
	if n, most := strings.Count(strings.ToUpper(text), "OUT_OF_RANGE"), 1+int(took/(10*time.Second)); n > most {
		t.Errorf("%d lines in %s for %d refusals; at most %d are allowed:\n%s", n, took, refused.Load(), most, text)
	}
	c.WaitLagZero("g-m", []string{"orders"}, 30*time.Second)
	m.stop()
	if n := len(fn.taken()); n != 40 {
		t.Errorf("%d records taken of 40", n)
	}
}

// logged is a log that a test reads.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" %s=%s", a.Key, a.Value)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

func (l *logged) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l *logged) WithGroup(string) slog.Handler { return l }

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

func (l *logged) count(part string) int { return strings.Count(l.text(), part) }
