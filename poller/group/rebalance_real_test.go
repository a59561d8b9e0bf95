//go:build real

package group_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

func TestMain(m *testing.M) { kafkatest.Main(m) }

// eitherOnKafka runs a test on real Kafka with each group protocol. The id is for topics and groups.
func eitherOnKafka(t *testing.T, run func(t *testing.T, c *kafkatest.Cluster, id string, by options)) {
	t.Parallel() // they wait more than they work
	for _, p := range []group.Protocol{group.Classic, group.Consumer} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			run(t, kafkatest.Shared(t), strings.ToLower(t.Name()[4:8])+"-"+p.String(), speaking(p))
		})
	}
}

// speaking are options of members that notice a rebalance soon.
func speaking(p group.Protocol) options {
	return options{config: func(c *group.Config) {
		c.SessionTimeout = 6 * time.Second
		c.Choose = func(context.Context) (group.Choice, error) {
			return group.Choice{Protocol: p, Why: "the test says so"}, nil
		}
		dial := c.Dial
		c.Dial = func(opts ...kgo.Opt) (*kgo.Client, error) {
			return dial(append(opts, kgo.HeartbeatInterval(500*time.Millisecond), kgo.MetadataMaxAge(time.Second), kgo.MetadataMinAge(100*time.Millisecond))...)
		}
	}}
}

// Fault 6: with an idle partition and frequent rebalances, a position one past the end was committed.
func TestAnIdlePartitionKeepsItsCommitOverRebalances(t *testing.T) {
	eitherOnKafka(t, func(t *testing.T, c *kafkatest.Cluster, id string, by options) {
		topic := c.Name("idle")
		c.CreateTopic(topic, 1, nil)
		produce(c, topic, 1, 10)
		g, at := record.GroupID("g-"+id), record.TopicPartition{Topic: topic}
		fn := target(fine)
		older := join(t, c, id, []string{topic}, fn, by)
		c.WaitLagZero(g, []string{topic}, 30*time.Second)
		for i := range 10 {
			newer := join(t, c, id, []string{topic}, fn, by)
			c.WaitMembers(g, 2, 30*time.Second)
			older.stop() // so that the partition moves each time
			c.WaitMembers(g, 1, 30*time.Second)
			until(t, "it has the partition", func() bool { return newer.feed.Joined() && len(newer.feed.States()) == 1 })
			older = newer
			if committed := c.Committed(g)[at]; committed != 10 {
				t.Fatalf("%d committed after %d rebalances, want 10", committed, 2*i+2)
			}
		}
		older.stop()
		if committed, calls := c.Committed(g)[at], fn.list(); committed != 10 || len(fn.taken()) != 10 || len(calls) > 10 {
			t.Errorf("%d committed in the end, %d records taken in %d calls", committed, len(fn.taken()), len(calls))
		}
	})
}

// Faults 18, 19 and 36: 2 members become 8 and then 3 under load, with calls of two seconds. The group must be stable within a
// minute of each step, what stays must go on, and in the end nothing is left behind, lost, out of order or taken twice.
func TestGroupsSettleWhileTheyScale(t *testing.T) {
	const partitions = 24
	eitherOnKafka(t, func(t *testing.T, c *kafkatest.Cluster, id string, by options) {
		topic := c.Name("scale")
		c.CreateTopic(topic, partitions, nil)
		l := newLoad(t, c, topic, partitions, 20*time.Millisecond)
		defer l.stop()
		var worst time.Duration
		stable := func(members int) {
			t.Helper()
			began := time.Now()
			c.WaitMembers(record.GroupID("g-"+id), members, time.Minute)
			until(t, "every partition has an owner", func() bool {
				owned := 0
				for _, m := range l.members {
					if m != nil && m.feed.Joined() {
						owned += len(m.feed.States())
					}
				}
				return owned == partitions
			})
			worst = max(worst, time.Since(began))
			t.Logf("%d members: stable after %s", members, time.Since(began).Round(10*time.Millisecond))
		}
		for range 2 {
			l.add(id, by)
		}
		stable(2)
		time.Sleep(3 * time.Second)
		before, _ := l.gaps(time.Now().Add(-3*time.Second), time.Now())
		began := time.Now()
		l.add(id, by)
		stable(3)
		time.Sleep(time.Second)
		stayed, moved := l.gaps(began, time.Now())
		t.Logf("gaps of one partition: %s before, %s where it stayed in a rebalance (%d), %s where it moved (%d)",
			before.worst, stayed.worst, stayed.partitions, moved.worst, moved.partitions)
		if stayed.partitions == 0 || stayed.worst > max(5*time.Second, 5*before.worst) { // brokers that have just started are slow
			t.Errorf("partitions that stayed had a gap of %s; it was %s before", stayed.worst, before.worst)
		}
		l.call.Store(int64(2 * time.Second))
		for range 5 {
			l.add(id, by)
		}
		stable(8)
		for range 5 {
			l.drop()
		}
		stable(3)
		if worst > time.Minute {
			t.Errorf("it took %s until the group was stable", worst)
		}
		l.call.Store(0)
		l.quiet()
		l.flow.Wait()
		c.WaitLagZero(record.GroupID("g-"+id), []string{topic}, time.Minute)
		l.stop()
		judge(t, l, int(l.sent.Load()))
	})
}

// judge: nothing lost, nothing out of order, and, since every call ended within its drain, nothing taken twice.
func judge(t *testing.T, l *load, sent int) {
	t.Helper()
	taken := map[string]int{}
	twice := 0
	for _, fn := range l.fns {
		for id, n := range fn.taken() {
			taken[id] += n
		}
	}
	for _, n := range taken {
		twice += n - 1
	}
	if len(taken) != sent || twice > 0 {
		t.Errorf("%d of %d records taken, %d of them twice", len(taken), sent, twice)
	}
	checkOrder(t, l.calls())
	t.Logf("%d records, %d calls", sent, len(l.calls()))
}

// A group that runs changes its protocol member by member, both ways, with members of both kinds in between.
func TestAGroupChangesItsProtocolWhileItRuns(t *testing.T) {
	t.Parallel()
	const partitions = 6
	c := kafkatest.Shared(t)
	topic, id := c.Name("change"), "change"
	c.CreateTopic(topic, partitions, nil)
	l := newLoad(t, c, topic, partitions, 20*time.Millisecond)
	defer l.stop()
	shared := func(what string, members int) {
		t.Helper()
		until(t, what, func() bool {
			owned, owners := 0, 0
			for _, m := range l.members {
				if m != nil && m.feed.Joined() && len(m.feed.States()) > 0 {
					owned, owners = owned+len(m.feed.States()), owners+1
				}
			}
			return owned == partitions && owners == members
		})
		sent := l.sent.Load() // it works in this shape
		until(t, what+" and flows", func() bool { return l.sent.Load() > sent+200 })
	}
	kind := func(want group.Protocol) {
		t.Helper()
		described, err := c.Admin().DescribeConsumerGroups(t.Context(), "g-"+id)
		err = errors.Join(err, described["g-"+id].Err)
		if isConsumer := err == nil; isConsumer != (want == group.Consumer) || err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
			t.Errorf("Kafka does not take the group for a %s one: %v", want, err)
		}
	}
	l.add(id, speaking(group.Classic))
	shared("classic", 1)
	kind(group.Classic)
	l.add(id, speaking(group.Consumer))
	shared("a classic and a consumer member", 2)
	kind(group.Consumer)
	l.drop()
	shared("consumer", 1)
	l.add(id, speaking(group.Classic))
	shared("a consumer and a classic member", 2)
	kind(group.Consumer)
	l.drop()
	shared("classic again", 1)
	kind(group.Classic)
	l.call.Store(0)
	l.quiet()
	l.flow.Wait()
	c.WaitLagZero(record.GroupID("g-"+id), []string{topic}, time.Minute)
	l.stop()
	judge(t, l, int(l.sent.Load()))
}

// Where the brokers do not let a group change, auto stays with what its members speak; an empty group may be either.
func TestAGroupThatMayNotChangeStaysClassic(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, kafkatest.Options{Properties: map[string]string{"group.consumer.migration.policy": "disabled"}})
	c.CreateTopic("orders", 2, nil)
	auto := func(want group.Protocol, why string) {
		t.Helper()
		got, err := group.Auto(c.Client(), "g-m")(t.Context())
		if err != nil || got.Protocol != want || !strings.Contains(got.Why, why) {
			t.Errorf("%s because %s, %v; want %s", got.Protocol, got.Why, err, want)
		}
	}
	auto(group.Consumer, "4.3 or later")
	m := join(t, c, "m", []string{"orders"}, target(fine), speaking(group.Classic))
	c.WaitMembers("g-m", 1, 30*time.Second)
	auto(group.Classic, "migration.policy is disabled")
	forced := join(t, c, "m", []string{"orders"}, target(fine), speaking(group.Consumer))
	until(t, "it says why it cannot join", func() bool { _, err := forced.feed.Problem(); return err != nil })
	_, err := forced.feed.Problem()
	if reason, hint := kafka.Explain(err); !strings.Contains(reason, "groupProtocol") {
		t.Errorf("%v is explained as %q, %q", err, reason, hint)
	}
	m.stop()
	until(t, "it joins when the others have left", forced.feed.Joined)
	auto(group.Consumer, "4.3 or later")
	forced.stop()
}

// Expressions are matched alike by either protocol: topics that come later too, and none of Kafka's own.
func TestExpressionsOnKafka(t *testing.T) {
	eitherOnKafka(t, func(t *testing.T, c *kafkatest.Cluster, id string, by options) {
		prefix := c.Name("regex")
		c.CreateTopic(prefix+".orders", 1, nil)
		produce(c, prefix+".orders", 1, 5)
		fn := target(func(int, []string) (invoke.Response, error) { return invoke.Response{}, nil })
		configure := by.config
		by.config = func(g *group.Config) {
			configure(g)
			g.Regex = fmt.Sprintf(`^(__.*|%s\..*)$`, prefix)
		}
		m := join(t, c, id, nil, fn, by)
		until(t, "the first topic", func() bool { return len(fn.taken()) == 5 })
		c.CreateTopic(prefix+".returns", 2, nil)
		produce(c, prefix+".returns", 2, 6)
		until(t, "the topic that came later", func() bool { return len(fn.taken()) >= 11 })
		m.stop()
		for taken := range fn.taken() {
			if !strings.HasPrefix(taken, prefix) {
				t.Errorf("%s was read", taken)
			}
		}
		if topics := slices.Sorted(topicsOf(c, record.GroupID("g-"+id))); len(topics) != 2 {
			t.Errorf("the group has commits of %v", topics)
		}
	})
}

func topicsOf(c *kafkatest.Cluster, g record.GroupID) func(func(string) bool) {
	topics := map[string]bool{}
	for tp := range c.Committed(g) {
		topics[tp.Topic] = true
	}
	return func(yield func(string) bool) {
		for topic := range topics {
			if !yield(topic) {
				return
			}
		}
	}
}
