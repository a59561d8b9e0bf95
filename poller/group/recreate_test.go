package group_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// recreate deletes a topic and creates it anew under its name.
func recreate(c *kafkatest.Cluster, topic string, partitions int32) {
	c.DeleteTopic(topic)
	c.CreateTopic(topic, partitions, nil)
}

// rejoin does what the controller does with a feed that has lapsed.
func rejoin(t *testing.T, c *kafkatest.Cluster, m *member, topics []string, fn invoke.Function, o options) *member {
	t.Helper()
	m.feed.Refresh()
	began := time.Now()
	select {
	case <-m.feed.Lapsed():
	case <-time.After(30 * time.Second):
		t.Fatal("waited 30 s for the feed to lapse")
	}
	t.Logf("lapsed after %s", time.Since(began).Round(time.Millisecond))
	m.stop()
	return join(t, c, "m", topics, fn, told(o, m))
}

// told passes on what a feed knew.
func told(o options, m *member) options {
	config := o.config
	o.config = func(g *group.Config) {
		if config != nil {
			config(g)
		}
		g.Recreated = m.feed.Recreated()
	}
	return o
}

// A topic that is deleted and created anew while it is read is read from its beginning, whatever the starting position.
// Other topics of the mapping lose nothing and repeat nothing.
func TestARecreatedTopicIsReadFromItsBeginning(t *testing.T) {
	for name, start := range map[string]group.Position{"TRIM_HORIZON": group.TrimHorizon, "LATEST": group.Latest} {
		t.Run(name, func(t *testing.T) {
			c := kafkatest.Fake(t, kafkatest.Options{})
			c.CreateTopic("orders", 2, nil)
			c.CreateTopic("returns", 1, nil)
			topics := []string{"orders", "returns"}
			fn := target(fine)
			o := options{config: func(g *group.Config) { g.Start = start }}
			m := join(t, c, "m", topics, fn, o)
			until(t, "it is ready", m.feed.Joined)
			produce(c, "orders", 2, 40)
			produce(c, "returns", 1, 10)
			c.WaitLagZero("g-m", topics, 20*time.Second)

			recreate(c, "orders", 3)
			produce(c, "orders", 3, 30)
			produce(c, "returns", 1, 10)
			m = rejoin(t, c, m, topics, fn, o)
			c.WaitLagZero("g-m", topics, 20*time.Second)
			produce(c, "orders", 3, 30)
			c.WaitLagZero("g-m", topics, 20*time.Second)
			m.stop()

			times := map[string]int{}
			for id, n := range fn.taken() {
				topic, _, _ := strings.Cut(id, "-")
				times[topic] += n
			}
			if times["orders"] != 40+60 || times["returns"] != 20 {
				t.Errorf("taken: %v; want 100 of orders and 20 of returns", times)
			}
			for p := range int32(3) {
				if at := c.Committed("g-m")[record.TopicPartition{Topic: "orders", Partition: p}]; at != 20 {
					t.Errorf("orders-%d is committed at %d, want 20", p, at)
				}
			}
		})
	}
}

// stale has the broker keep the group's commits when a topic is deleted, as far as the test can tell: it puts them back
// before anything reads them.
func stale(t *testing.T, c *kafkatest.Cluster, metadata string, offset int64, epoch ...int32) {
	t.Helper()
	leader := int32(-1)
	if len(epoch) > 0 {
		leader = epoch[0]
	}
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: "orders", At: offset, LeaderEpoch: leader, Metadata: metadata})
	if err := c.Admin().CommitAllOffsets(t.Context(), "g-m", offsets); err != nil {
		t.Fatal(err)
	}
}

// said is what the group's commit of the partition says beside its offset.
func said(t *testing.T, c *kafkatest.Cluster) string {
	t.Helper()
	commits, err := c.Admin().FetchOffsets(t.Context(), "g-m")
	if err != nil {
		t.Fatal(err)
	}
	o, _ := commits.Lookup("orders", 0)
	return o.Metadata
}

// A commit of the old topic that lies inside the new one's log, where a broker did not drop it or a late member made it: its
// metadata tells that it is of another topic. So does one that lies beyond the log, at a restart, with nothing but the
// commit to tell.
func TestACommitOfAnEarlierTopicIsNotTakenForOneOfTheNew(t *testing.T) {
	for _, at := range []int64{7, 50} {
		t.Run(fmt.Sprintf("at %d of 20", at), func(t *testing.T) {
			c := kafkatest.Fake(t, kafkatest.Options{})
			c.CreateTopic("orders", 1, nil)
			produce(c, "orders", 1, 5)
			fn := target(fine)
			o := options{config: func(g *group.Config) { g.Start = group.Latest }}
			m := join(t, c, "m", []string{"orders"}, fn, o)
			until(t, "a position is committed", func() bool { return c.Committed("g-m")[orders0] == 5 })
			m.stop()
			metadata := said(t, c)
			if !strings.Contains(metadata, " topic=") {
				t.Fatalf("the commit says %q, and no topic's id", metadata)
			}
			recreate(c, "orders", 1)
			produce(c, "orders", 1, 20)
			stale(t, c, metadata, at)
			m = join(t, c, "m", []string{"orders"}, fn, o)
			until(t, "the new topic is read", func() bool { return len(fn.taken()) == 20 })
			m.stop()
			if n := len(fn.taken()); n != 20 {
				t.Errorf("%d records taken of 20", n)
			}
			if now := said(t, c); now == metadata {
				t.Errorf("the commit still says %q", now)
			}
			m = join(t, c, "m", []string{"orders"}, fn, o) // and only once
			produce(c, "orders", 1, 1)
			c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
			m.stop()
			if calls := fn.list(); fmt.Sprint(calls[len(calls)-1].ids) != "[orders-0@20]" {
				t.Errorf("the last call had %v", calls[len(calls)-1].ids)
			}
		})
	}
}

// A commit without an id, of an older Sluice or of other software, is taken as it is.
func TestACommitThatNamesNoTopicCounts(t *testing.T) {
	for _, metadata := range []string{"", "somebody's", "sluice partitions=1 since=1796033701000"} {
		c := kafkatest.Fake(t, kafkatest.Options{})
		c.CreateTopic("orders", 1, nil)
		produce(c, "orders", 1, 20)
		stale(t, c, metadata, 15)
		fn := target(fine)
		m := join(t, c, "m", []string{"orders"}, fn, options{})
		c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
		m.stop()
		if n := len(fn.taken()); n != 5 {
			t.Errorf("%q: %d records taken, want 5", metadata, n)
		}
	}
}

// With StopReading nothing of a topic that was created anew is read, now and after a restart, until somebody decides. The lag
// is the whole new topic; other topics go on.
func TestARecreatedTopicMayStop(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	c.CreateTopic("returns", 1, nil)
	topics := []string{"orders", "returns"}
	produce(c, "orders", 1, 10)
	fn := target(fine)
	var lines logged
	o := options{config: func(g *group.Config) { g.OnRecreated, g.Log = group.StopReading, slog.New(&lines) }}
	m := join(t, c, "m", topics, fn, o)
	c.WaitLagZero("g-m", topics, 20*time.Second)
	recreate(c, "orders", 1)
	produce(c, "orders", 1, 20)
	m = rejoin(t, c, m, topics, fn, o)
	for range 2 {
		until(t, "it stops", func() bool { return m.feed.Joined() && fmt.Sprint(m.feed.Stopped()) == "[orders]" })
		produce(c, "returns", 1, 5)
		c.WaitLagZero("g-m", []string{"returns"}, 20*time.Second)
		if lag := c.Lag("g-m", "orders")[orders0]; lag != 20 {
			t.Errorf("the lag is %d, want 20", lag)
		}
		m.stop()
		m = join(t, c, "m", topics, fn, o) // knows nothing but what the group's commits say
	}
	m.stop()
	if n := len(fn.taken()); n != 20 {
		t.Errorf("%d records taken, want 10 of the old topic and 10 of the other", n)
	}
	o.config = nil
	m = join(t, c, "m", topics, fn, o)
	c.WaitLagZero("g-m", topics, 20*time.Second)
	m.stop()
	taken := 0
	for _, n := range fn.taken() {
		taken += n
	}
	if taken != 40 {
		t.Errorf("%d records taken, want 40", taken)
	}
}

// A topic that is deleted for good shows, does not flood the log, and holds up no other. When it comes back, it is read.
func TestADeletedTopicShowsAndHoldsUpNoOther(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 3, nil)
	c.CreateTopic("returns", 1, nil)
	topics := []string{"orders", "returns"}
	produce(c, "orders", 3, 30)
	fn := target(fine)
	var lines logged
	o := options{config: func(g *group.Config) { g.Log = slog.New(&lines) }}
	m := join(t, c, "m", topics, fn, o)
	c.WaitLagZero("g-m", topics, 20*time.Second)
	began := time.Now()
	c.DeleteTopic("orders")
	m.feed.Refresh() // what the controller does on what it reads
	until(t, "it shows", func() bool { return fmt.Sprint(m.feed.Absent()) == "[orders]" })
	t.Logf("noticed after %s", time.Since(began).Round(time.Millisecond))
	for range 10 {
		produce(c, "returns", 1, 1)
		time.Sleep(100 * time.Millisecond)
	}
	c.WaitLagZero("g-m", []string{"returns"}, 20*time.Second)
	if n := strings.Count(lines.text(), "\n"); n > 10 {
		t.Errorf("%d lines:\n%s", n, lines.text())
	}
	c.CreateTopic("orders", 1, nil)
	produce(c, "orders", 1, 7)
	m = rejoin(t, c, m, topics, fn, o)
	c.WaitLagZero("g-m", topics, 20*time.Second)
	m.stop()
	if n := c.Committed("g-m")[orders0]; n != 7 {
		t.Errorf("committed %d, want 7", n)
	}
}

// What is out when its topic goes may end; what was fetched and not handed out goes with the topic.
func TestRecordsOfADeletedTopicThatFailDoNotHoldTheNewOneUp(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	produce(c, "orders", 1, 5)
	var mended atomic.Bool
	fn := target(func(int, []string) (invoke.Response, error) {
		if !mended.Load() {
			return invoke.Response{}, broken()
		}
		return invoke.Response{}, nil
	})
	o := options{policy: failure.Policy{MaximumRetryAttempts: -1, InitialBackoff: time.Hour, MaximumBackoff: time.Hour}}
	m := join(t, c, "m", []string{"orders"}, fn, o)
	until(t, "a failure", func() bool { return len(fn.list()) > 0 })
	recreate(c, "orders", 1)
	c.Produce(&record.Record{Topic: "orders", Value: []byte("new")})
	mended.Store(true)
	m = rejoin(t, c, m, []string{"orders"}, fn, o)
	c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
	m.stop()
	if taken := fn.taken(); len(taken) != 1 || taken["orders-0@0"] != 1 {
		t.Errorf("taken: %v; want the new record alone", taken)
	}
}

// A commit beyond the end of the same topic's log: an unclean election has cut it while nothing ran. By the leader epoch of
// the commit it goes on where the log was cut; nothing below comes again, and nothing new is missed. Without an epoch,
// everything comes again.
func TestACommitBeyondACutLogGoesOnWhereItWasCut(t *testing.T) {
	for _, epoch := range []int32{0, -1} {
		t.Run(fmt.Sprint("epoch ", epoch), func(t *testing.T) {
			c := kafkatest.Fake(t, kafkatest.Options{})
			c.CreateTopic("orders", 1, nil)
			produce(c, "orders", 1, 10)
			fn := target(fine)
			var lines logged
			o := options{config: func(g *group.Config) { g.Log = slog.New(&lines) }}
			m := join(t, c, "m", []string{"orders"}, fn, o)
			c.WaitLagZero("g-m", []string{"orders"}, 20*time.Second)
			m.stop()
			stale(t, c, said(t, c), 50, epoch) // as if 40 more had been read
			m = join(t, c, "m", []string{"orders"}, fn, o)
			until(t, "the cut is noticed", func() bool {
				return strings.Contains(lines.text(), "behind the end of the log, which was cut") && m.feed.Joined()
			})
			if epoch >= 0 {
				until(t, "it goes on at the cut", func() bool { return lines.count("the broker lost records that were read already") == 1 })
			}
			produce(c, "orders", 1, 5)
			until(t, "what is new is committed", func() bool { return c.Committed("g-m")[orders0] == 15 })
			m.stop()
			again := 0
			for _, n := range fn.taken() {
				again += n - 1
			}
			if want := map[int32]int{0: 0, -1: 10}[epoch]; again != want || len(fn.taken()) != 15 {
				t.Errorf("%d records taken, %d of them again; want 15 and %d", len(fn.taken()), again, want)
			}
		})
	}
}
