package group_test

import (
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// virtual runs a test in a bubble, where minutes pass in no time, with a kfake in it.
func virtual(t *testing.T, run func(t *testing.T, c *kafkatest.Cluster)) {
	synctest.Test(t, func(t *testing.T) { run(t, kafkatest.Fake(t, kafkatest.Options{Virtual: true})) })
}

// Fault 53: a fixed limit of 60 s declared a channel dead over one record of 61 s. A call of 90 s whose function has a
// time-out of two minutes is one call; nobody loses the partition over it, and the others go on.
func TestACallOfNinetySecondsIsOneCall(t *testing.T) {
	virtual(t, func(t *testing.T, c *kafkatest.Cluster) {
		c.CreateTopic("orders", 2, nil)
		produce(c, "orders", 2, 10)
		slow := record.TopicPartition{Topic: "orders", Partition: 1}.At(0)
		fn := target(func(_ int, ids []string) (invoke.Response, error) {
			if slices.Contains(ids, slow) {
				time.Sleep(90 * time.Second)
			}
			return invoke.Response{}, nil
		})
		m := join(t, c, "m", []string{"orders"}, fn, options{config: func(c *group.Config) {
			c.FunctionTimeout, c.Limits.BatchRecords = 2*time.Minute, 1
		}})
		time.Sleep(80 * time.Second)
		if n := len(fn.taken()); n != 5 {
			t.Errorf("%d records of the other partition taken meanwhile, want its 5", n)
		}
		time.Sleep(20 * time.Second)
		for id, n := range fn.taken() {
			if n != 1 {
				t.Errorf("%s was taken %d times", id, n)
			}
		}
		if calls := fn.list(); len(fn.taken()) != 10 || len(calls) != 10 {
			t.Errorf("%d records taken in %d calls, want 10 in 10", len(fn.taken()), len(calls))
		}
		m.stop()
		if got := slices.Sorted(maps.Values(c.Committed("g-m"))); !slices.Equal(got, []record.Offset{5, 5}) {
			t.Errorf("committed %v", got)
		}
	})
}

// Fault 49: waiting in the queue counted as work, so that healthy systems failed. Ten records of 8 s each behind one
// another, and a function with 12 s: the last one waits for 72 s, and none is late.
func TestWaitingInTheBufferIsNoPartOfACall(t *testing.T) {
	virtual(t, func(t *testing.T, c *kafkatest.Cluster) {
		c.CreateTopic("orders", 1, nil)
		produce(c, "orders", 1, 10)
		fn := target(func(int, []string) (invoke.Response, error) {
			time.Sleep(8 * time.Second)
			return invoke.Response{}, nil
		})
		join(t, c, "m", []string{"orders"}, fn, options{config: func(c *group.Config) {
			c.FunctionTimeout, c.Limits.BatchRecords = 12*time.Second, 1
		}})
		time.Sleep(90 * time.Second)
		calls := fn.list()
		for _, call := range calls {
			if call.failed || call.attempt != 1 {
				t.Errorf("%v: attempt %d, failed %t", call.ids, call.attempt, call.failed)
			}
		}
		if len(calls) != 10 || len(fn.taken()) != 10 {
			t.Errorf("%d taken in %d calls, want 10 in 10", len(fn.taken()), len(calls))
		}
	})
}

// Fault 112: what one trigger acknowledged was applied to another of the same kind. Two mappings of one process read the
// same partition of the same topic name, in groups of one name, on two clusters; one fails and the other does not.
func TestOneTopicNameOnTwoClustersKeepsTwoCommits(t *testing.T) {
	virtual(t, func(t *testing.T, c *kafkatest.Cluster) {
		other := kafkatest.Fake(t, kafkatest.Options{Virtual: true})
		var healed atomic.Bool
		fails := target(func(int, []string) (invoke.Response, error) {
			if !healed.Load() {
				return invoke.Response{}, &invoke.Error{Kind: invoke.FunctionError, Status: 500}
			}
			return invoke.Response{}, nil
		})
		takes := target(func(int, []string) (invoke.Response, error) { return invoke.Response{}, nil })
		for _, k := range []*kafkatest.Cluster{c, other} {
			k.CreateTopic("orders", 1, nil)
			produce(k, "orders", 1, 30)
		}
		join(t, c, "m", []string{"orders"}, fails, options{policy: failure.Policy{
			MaximumRetryAttempts: -1, InitialBackoff: time.Second, MaximumBackoff: time.Minute,
		}})
		join(t, other, "m", []string{"orders"}, takes, options{})
		tp := record.TopicPartition{Topic: "orders"}
		time.Sleep(time.Minute)
		if a, b := c.Committed("g-m")[tp], other.Committed("g-m")[tp]; a > 0 || b != 30 {
			t.Errorf("committed %d where all failed and %d where all was taken", a, b)
		}
		other.Produce(&kgo.Record{Topic: "orders", Value: []byte("one more")})
		time.Sleep(time.Minute)
		if a, b := c.Committed("g-m")[tp], other.Committed("g-m")[tp]; a > 0 || b != 31 {
			t.Errorf("committed %d where all failed and %d where one more was taken", a, b)
		}
		healed.Store(true)
		time.Sleep(2 * time.Minute)
		if a, b := c.Committed("g-m")[tp], other.Committed("g-m")[tp]; a != 30 || b != 31 {
			t.Errorf("committed %d and %d at the end", a, b)
		}
		if len(fails.taken()) != 30 || len(takes.taken()) != 31 {
			t.Errorf("%d and %d taken", len(fails.taken()), len(takes.taken()))
		}
	})
}
