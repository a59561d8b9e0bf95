package group_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// byEither runs a test in a bubble with each group protocol.
func byEither(t *testing.T, run func(t *testing.T, c *kafkatest.Cluster)) {
	for _, by := range []group.Protocol{group.Classic, group.Consumer} {
		t.Run(by.String(), func(t *testing.T) {
			protocol.is(t, by)
			virtual(t, run)
		})
	}
}

// generations notes when a kfake hears a newer generation of a group from its members.
type generations struct {
	mu    sync.Mutex
	last  int32
	since time.Time
}

func watchGenerations(c *kafkatest.Cluster) *generations {
	g := &generations{}
	hear := func(generation int32) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if generation > g.last {
			g.last, g.since = generation, time.Now()
		}
	}
	k := c.Kfake()
	for _, key := range []kmsg.Key{kmsg.Heartbeat, kmsg.ConsumerGroupHeartbeat} {
		k.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			switch req := req.(type) {
			case *kmsg.HeartbeatRequest:
				hear(req.Generation)
			case *kmsg.ConsumerGroupHeartbeatRequest:
				hear(req.MemberEpoch)
			}
			return nil, nil, false
		})
	}
	return g
}

func (g *generations) changed() (generation int32, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last, g.since
}

// Fault 25: a consumer that retried could not see a rebalance, and the record bounced between two replicas for a quarter of an
// hour. Here one partition begins with a record that always fails, and another member joins, leaves and joins again.
func TestRetriesHideNoRebalance(t *testing.T) {
	byEither(t, func(t *testing.T, c *kafkatest.Cluster) {
		c.CreateTopic("orders", 1, nil)
		produce(c, "orders", 1, 20)
		poison := record.TopicPartition{Topic: "orders"}.At(0)
		fn := target(func(_ int, ids []string) (invoke.Response, error) {
			if slices.Contains(ids, poison) {
				return invoke.Response{}, broken()
			}
			return invoke.Response{}, nil
		})
		dead := &held{}
		dead.open.Store(true)
		o := options{
			policy: failure.Policy{MaximumRetryAttempts: 10, InitialBackoff: 2 * time.Second, MaximumBackoff: 2 * time.Second, Destination: true},
			dest:   dead, config: func(c *group.Config) { c.Limits.BatchRecords = 1 },
		}
		watched := watchGenerations(c)
		first := join(t, c, "m", []string{"orders"}, fn, o)
		time.Sleep(3 * time.Second)
		other := join(t, c, "m", []string{"orders"}, fn, o)
		time.Sleep(3 * time.Second)
		other.stop()
		time.Sleep(3 * time.Second)
		before, _ := watched.changed()
		rejoined := time.Now()
		other = join(t, c, "m", []string{"orders"}, fn, o)
		time.Sleep(2 * time.Minute)
		after, at := watched.changed()
		t.Logf("generation %d, then %d, for the last time %s after the member came back", before, after, at.Sub(rejoined))
		if after <= before || at.Sub(rejoined) > 30*time.Second {
			t.Errorf("the group came to rest after %s at generation %d, which was %d; want within 30 s", at.Sub(rejoined), after, before)
		}
		attempts, behind := 0, false
		for _, call := range fn.list() {
			if slices.Contains(call.ids, poison) {
				attempts++
			} else {
				behind = true
			}
			if behind && slices.Contains(call.ids, poison) {
				t.Error("a record behind it was handed over before it was given up")
			}
		}
		if attempts < 11 || attempts > 3*11 { // attempts begin anew with each owner
			t.Errorf("the record was tried %d times", attempts)
		}
		if n := len(fn.taken()); n != 19 {
			t.Errorf("%d records behind it were taken, want 19", n)
		}
		first.stop()
		other.stop()
	})
}

// Fault 32: after a member was added, the older one stopped reading what it kept. One record at a time, calls of a minute.
func TestCallsOfAMinuteWhileAMemberIsAdded(t *testing.T) {
	byEither(t, func(t *testing.T, c *kafkatest.Cluster) {
		c.CreateTopic("orders", 2, nil)
		produce(c, "orders", 2, 20)
		minute := func() *scripted {
			return target(func(int, []string) (invoke.Response, error) {
				time.Sleep(time.Minute)
				return invoke.Response{}, nil
			})
		}
		o := options{config: func(c *group.Config) {
			c.Limits.BatchRecords, c.FunctionTimeout = 1, 2*time.Minute
		}}
		older, newer := minute(), minute()
		first := join(t, c, "m", []string{"orders"}, older, o)
		time.Sleep(20 * time.Second)
		added := time.Now()
		second := join(t, c, "m", []string{"orders"}, newer, o)
		time.Sleep(70 * time.Second)
		for name, fn := range map[string]*scripted{"older": older, "newer": newer} {
			n := 0
			for _, call := range fn.list() {
				if call.began.After(added) {
					n++
				}
			}
			if n == 0 {
				t.Errorf("the %s member has not called within 70 s", name)
			}
		}
		time.Sleep(20 * time.Minute)
		if lag := c.Lag("g-m", "orders"); len(lag) > 0 {
			t.Errorf("lag %v", lag)
		}
		first.stop()
		second.stop()
	})
}

// Fault 36, for groups whose brokers assign; how a classic one waits in a join stops the clock of a bubble. Both on a broker:
// TestGroupsSettleWhileTheyScale.
func TestPartitionsThatStayGoOnInARebalance(t *testing.T) {
	protocol.is(t, group.Consumer)
	virtual(t, func(t *testing.T, c *kafkatest.Cluster) {
		const partitions = 22
		c.CreateTopic("orders", partitions, nil)
		l := newLoad(t, c, "orders", partitions, 20*time.Millisecond)
		defer l.stop()
		for range 10 {
			l.add("m", options{pollers: 2})
		}
		time.Sleep(10 * time.Second)
		began := time.Now()
		l.add("m", options{pollers: 2})
		time.Sleep(15 * time.Second)
		stayed, moved := l.gaps(began, began.Add(14*time.Second))
		t.Logf("the longest gap of a partition that stayed: %s; of one that moved: %s", stayed.worst, moved.worst)
		if moved.partitions == 0 || stayed.partitions < partitions*8/10 || stayed.worst >= time.Second {
			t.Errorf("%d of %d partitions stayed, with a gap of %s; want less than a second", stayed.partitions, partitions, stayed.worst)
		}
	})
}

// load keeps members of one group busy: every 50 ms a record comes for each partition, and each call takes its time.
type load struct {
	t       *testing.T
	cluster *kafkatest.Cluster
	topic   string
	call    atomic.Int64 // a time.Duration
	members []*member    // by age; those that have left are nil
	fns     []*scripted  // what each member called

	quiet func() // ends the records
	flow  sync.WaitGroup
	sent  atomic.Int64
}

func newLoad(t *testing.T, c *kafkatest.Cluster, topic string, partitions int32, call time.Duration) *load {
	ctx, quiet := context.WithCancel(context.Background())
	l := &load{t: t, cluster: c, topic: topic, quiet: quiet}
	l.call.Store(int64(call))
	client := c.Client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	l.flow.Go(func() {
		for sleepFor(ctx, 50*time.Millisecond) {
			for p := range partitions {
				client.Produce(context.Background(), &kgo.Record{Topic: topic, Partition: p, Value: []byte("x")}, func(_ *kgo.Record, err error) {
					if err != nil {
						t.Error(err)
						return
					}
					l.sent.Add(1)
				})
			}
		}
		if err := client.Flush(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

func sleepFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// add has a member join.
func (l *load) add(id string, o options) {
	fn := target(func(int, []string) (invoke.Response, error) {
		time.Sleep(time.Duration(l.call.Load()))
		return invoke.Response{}, nil
	})
	l.fns = append(l.fns, fn)
	l.members = append(l.members, join(l.t, l.cluster, id, []string{l.topic}, fn, o))
}

// drop has the member that has been there longest leave.
func (l *load) drop() {
	i := slices.IndexFunc(l.members, func(m *member) bool { return m != nil })
	l.members[i].stop()
	l.members[i] = nil
}

// stop ends the records and the members.
func (l *load) stop() {
	l.quiet()
	l.flow.Wait()
	for _, m := range l.members {
		if m != nil {
			m.stop()
		}
	}
}

// calls are those of all members.
func (l *load) calls() []call {
	var all []call
	for _, fn := range l.fns {
		all = append(all, fn.list()...)
	}
	return all
}

// gaps is the longest time between the beginnings of two calls of one partition, and of how many that was judged.
type gaps struct {
	partitions int
	worst      time.Duration
}

// gaps judges the calls from one moment to another: of the partitions that one member alone called, and of the others.
func (l *load) gaps(from, to time.Time) (stayed, moved gaps) {
	began, callers := map[string][]time.Time{}, map[string]map[int]bool{}
	for i, fn := range l.fns {
		for _, c := range fn.list() {
			if c.began.Before(from) || c.began.After(to) {
				continue
			}
			for _, id := range c.ids {
				tp, _ := split(id)
				if callers[tp] == nil {
					callers[tp] = map[int]bool{}
					began[tp] = []time.Time{from, to}
				}
				callers[tp][i] = true
				began[tp] = append(began[tp], c.began)
			}
		}
	}
	for tp, times := range began {
		g := &stayed
		if len(callers[tp]) > 1 {
			g = &moved
		}
		g.partitions++
		slices.SortFunc(times, time.Time.Compare)
		for i := 1; i < len(times); i++ {
			g.worst = max(g.worst, times[i].Sub(times[i-1]))
		}
	}
	return stayed, moved
}
