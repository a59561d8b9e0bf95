package group_test

import (
	"maps"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
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

// Fault 58: a slow endpoint held up everybody else's deliveries. Two mappings of one process; the function of one hangs
// until its time-out, in all its slots. In virtual time each wait of one for the other would show: the records of the
// other are taken as fast as without it.
func TestAFunctionThatHangsDelaysNoOtherMapping(t *testing.T) {
	p99 := func(t *testing.T, neighbour bool) (latency time.Duration) {
		virtual(t, func(t *testing.T, c *kafkatest.Cluster) {
			if neighbour {
				c.CreateTopic("hanging", 12, nil)
				produce(c, "hanging", 12, 1000)
				end := make(chan struct{})
				join(t, c, "slow", []string{"hanging"}, target(func(int, []string) (invoke.Response, error) {
					select {
					case <-time.After(30 * time.Second):
					case <-end:
					}
					return invoke.Response{}, &invoke.Error{Kind: invoke.Timeout}
				}), options{pollers: 5, policy: failure.Policy{
					MaximumRetryAttempts: -1, InitialBackoff: time.Second, MaximumBackoff: time.Minute,
				}})
				t.Cleanup(func() { close(end) })
			}
			c.CreateTopic("orders", 4, nil)
			fn := target(func(int, []string) (invoke.Response, error) {
				time.Sleep(5 * time.Millisecond)
				return invoke.Response{}, nil
			})
			join(t, c, "fast", []string{"orders"}, fn, options{})
			time.Sleep(5 * time.Second)
			const records = 600
			sent := make([]time.Time, 0, records)
			for i := range records {
				sent = append(sent, time.Now())
				c.Produce(&kgo.Record{Topic: "orders", Partition: int32(i % 4), Value: []byte("x")})
				time.Sleep(100 * time.Millisecond)
			}
			time.Sleep(time.Second)
			done := map[string]time.Time{}
			for _, call := range fn.list() {
				for _, id := range call.ids {
					done[id] = call.done
				}
			}
			var took []time.Duration
			for i, at := range sent {
				id := record.TopicPartition{Topic: "orders", Partition: int32(i % 4)}.At(record.Offset(i / 4))
				if done[id].IsZero() {
					t.Fatalf("%s was not taken", id)
				}
				took = append(took, done[id].Sub(at))
			}
			slices.Sort(took)
			latency = took[len(took)*99/100]
		})
		return latency
	}
	alone := p99(t, false)
	beside := p99(t, true)
	t.Logf("p99 %s alone, %s beside a function that hangs", alone, beside)
	if beside > 2*alone {
		t.Errorf("p99 %s beside a function that hangs, %s alone", beside, alone)
	}
}

// Fault 72: something leaked at every commit and every rebalance. A member comes and goes again and again; the one that
// stays ends with the goroutines that it had, and with the heap. kfake and the testing package are in the same heap: of
// each member they were seen to keep 3 KiB (fetch sessions, batches, cleanups), which are allowed for.
func TestRebalancesLeakNothing(t *testing.T) {
	virtual(t, func(t *testing.T, c *kafkatest.Cluster) {
		c.CreateTopic("orders", 6, nil)
		fn := target(func(int, []string) (invoke.Response, error) { return invoke.Response{}, nil })
		join(t, c, "m", []string{"orders"}, fn, options{})
		rebalances := 0
		round := func() {
			other := join(t, c, "m", []string{"orders"}, fn, options{})
			produce(c, "orders", 6, 6)
			time.Sleep(10 * time.Second)
			if len(other.feed.States()) == 0 {
				t.Fatal("the new member got nothing")
			}
			other.stop()
			other.forget()
			time.Sleep(10 * time.Second)
			rebalances += 2
		}
		use := func() (goroutines int, heap int64) {
			fn.forget()
			var read kadm.Offsets
			for tp, at := range c.EndOffsets("orders") {
				read.AddOffset(tp.Topic, tp.Partition, int64(at), -1)
			}
			if _, err := c.Admin().DeleteRecords(t.Context(), read); err != nil { // kfake's memory is ours here
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // connections that are idle close
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return runtime.NumGoroutine(), int64(m.HeapAlloc)
		}
		for range 10 {
			round()
		}
		before := rebalances
		goroutines, heap := use()
		for range 50 {
			round()
		}
		after, heapAfter := use()
		const others = 2 << 10 // a rebalance
		grown := heapAfter - heap - others*int64(rebalances-before)
		t.Logf("%d rebalances: %d goroutines, then %d; %d B, then %d", rebalances-before, goroutines, after, heap, heapAfter)
		if after > goroutines+2 || grown > heap/20 {
			t.Errorf("after %d rebalances there are %d goroutines more and %d B that nobody accounts for",
				rebalances-before, after-goroutines, grown)
		}
	})
}

// Fault 128: LATEST missed what came while a mapping was made or changed. A hundred records a second, and a member that is
// stopped and made anew ten times, with another batch size each time, as a change is today.
func TestLatestLosesNothingOverTenChanges(t *testing.T) {
	virtual(t, func(t *testing.T, c *kafkatest.Cluster) {
		c.CreateTopic("orders", 3, nil)
		produce(c, "orders", 3, 30) // before the mapping: not its
		fn := target(func(int, []string) (invoke.Response, error) {
			time.Sleep(20 * time.Millisecond)
			return invoke.Response{}, nil
		})
		made := func(size int) *member {
			return join(t, c, "m", []string{"orders"}, fn, options{config: func(c *group.Config) {
				c.Start, c.Limits.BatchRecords = group.Latest, size
			}})
		}
		m := made(10)
		until(t, "the mapping is ready", m.feed.Joined)
		done := make(chan struct{})
		const records = 3000
		go func() {
			defer close(done)
			for range records / 30 {
				produce(c, "orders", 3, 30)
				time.Sleep(300 * time.Millisecond)
			}
		}()
		for i := range 10 {
			time.Sleep(2500 * time.Millisecond)
			m.stop()
			m = made(5 + i)
		}
		<-done
		time.Sleep(10 * time.Second)
		taken := fn.taken()
		if len(taken) != records {
			t.Errorf("%d of %d records taken", len(taken), records)
		}
		for p := range int32(3) {
			if id := (record.TopicPartition{Topic: "orders", Partition: p}).At(0); taken[id] > 0 {
				t.Errorf("%s was there before the mapping, and taken", id)
			}
		}
	})
}
