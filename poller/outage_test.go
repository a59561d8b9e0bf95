package poller

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// finite is a policy that gives up after a few attempts, into a destination.
func finite(d *dead) func(*Config) {
	return func(c *Config) {
		c.Policy = &failure.Policy{
			MaximumRetryAttempts: 3, Destination: true, Bisect: true,
			InitialBackoff: time.Second, MaximumBackoff: time.Minute,
		}
		c.Destination = d
	}
}

// Product contract, «Failure», outage; fault 57: ten minutes without the function dead-letter nothing, and everything flows
// within 5 s of its return.
func TestAnOutageOfTenMinutesCostsNothing(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  invoke.Error
	}{
		{"refused connections", invoke.Error{Kind: invoke.Unreachable}},
		{"500 from everything", invoke.Error{Kind: invoke.FunctionError, Status: 500}},
		{"time-outs", invoke.Error{Kind: invoke.Timeout}},
		{"throttling", invoke.Error{Kind: invoke.Throttled, Status: 503}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(inflight.Limits{BatchRecords: 10, BatchBytes: 6 << 20}, encoder)
				for i := range 8 {
					m.fill(int32(i), 100, 10, time.Now())
				}
				d := &dead{}
				var back atomic.Bool
				var calls atomic.Int32
				p, _ := pool(t, m, func(context.Context, *invoke.Request) (invoke.Response, error) {
					calls.Add(1)
					time.Sleep(time.Millisecond)
					if !back.Load() {
						err := tc.err
						return invoke.Response{}, &err
					}
					return invoke.Response{}, nil
				}, finite(d))
				p.Resize(2)
				time.Sleep(10 * time.Minute)
				if n := calls.Load(); n > 800 {
					t.Errorf("%d calls in ten minutes", n)
				}
				back.Store(true)
				time.Sleep(5 * time.Second)
				if tc.err.Kind == invoke.Throttled {
					time.Sleep(time.Minute) // each record's own pause
				}
				stop(t, p)
				if len(d.got) != 0 || m.left() != 0 {
					t.Errorf("%d dead letters, %d records left 5 s after its return", len(d.got), m.left())
				}
			})
		})
	}
}

// poisonous fails every batch that holds a marked record.
func poisonous(_ context.Context, req *invoke.Request) (invoke.Response, error) {
	time.Sleep(time.Millisecond)
	if bytes.Contains(req.Body, []byte(`"key":"cG9pc29u"`)) { // poison
		return invoke.Response{}, &invoke.Error{Kind: invoke.FunctionError, Status: 500}
	}
	return invoke.Response{}, nil
}

// A topic whose only record crashes the function ends on the dead-letter topic, and so do poison records in every
// partition at once, which look like an outage until the first healthy part of a batch is taken.
func TestPoisonIsToldFromAnOutage(t *testing.T) {
	for _, tc := range []struct {
		name                string
		partitions, records int
		at                  int
		bisect              bool
		dead                int
	}{
		{"a single record", 1, 1, 0, false, 1},
		{"the first of a long partition", 1, 500, 0, true, 1},
		{"one in each of three", 3, 100, 20, true, 3},
		{"one in each of twelve", 12, 100, 70, true, 12},
		{"the first of each of two", 2, 100, 0, true, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(inflight.Limits{BatchRecords: 50, BatchBytes: 6 << 20}, encoder)
				for i := range tc.partitions {
					tp := record.TopicPartition{Topic: "orders", Partition: int32(i)}
					recs := make([]*record.Record, tc.records)
					for j := range recs {
						recs[j] = &record.Record{Topic: "orders", Partition: int32(i), Offset: int64(j), Timestamp: time.Now()}
						if j == tc.at {
							recs[j].Key = []byte("poison")
						}
					}
					m.mu.Lock()
					m.set.Assign(tp, 0, true, time.Now())
					m.set.Admit(tp, recs, time.Now())
					m.mu.Unlock()
				}
				d := &dead{}
				p, _ := pool(t, m, poisonous, func(c *Config) {
					finite(d)(c)
					c.Policy.Bisect = tc.bisect
				})
				p.Resize(3)
				time.Sleep(5 * time.Minute)
				stop(t, p)
				records := 0
				for _, run := range d.got {
					records += len(run.Records)
				}
				if records != tc.dead || m.left() != 0 {
					t.Errorf("%d dead letters, want %d; %d records left; gate %+v", records, tc.dead, m.left(), m.gate.Status())
				}
			})
		})
	}
}

// Where the first record of each of three partitions is poison and nothing else can be handed out, nobody can tell that
// from an outage. It stays one, says so, and ends with the first record that the function takes.
func TestPoisonAtTheHeadOfEveryPartitionWaitsForASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 1, BatchBytes: 6 << 20}, encoder)
		for i := range 3 {
			tp := record.TopicPartition{Topic: "orders", Partition: int32(i)}
			m.mu.Lock()
			m.set.Assign(tp, 0, true, time.Now())
			m.set.Admit(tp, []*record.Record{{Topic: "orders", Partition: int32(i), Key: []byte("poison")}}, time.Now())
			m.mu.Unlock()
		}
		d := &dead{}
		p, _ := pool(t, m, poisonous, finite(d))
		p.Resize(1)
		time.Sleep(10 * time.Minute)
		if st := m.gate.Status(); st.State != circuit.Open || st.Cause.Status != 500 || len(d.got) != 0 {
			t.Errorf("gate %+v, %d dead letters", st, len(d.got))
		}
		m.fill(3, 1, 10, time.Now())
		time.Sleep(2 * time.Minute)
		stop(t, p)
		if len(d.got) != 3 || m.left() != 0 {
			t.Errorf("%d dead letters, %d left", len(d.got), m.left())
		}
	})
}

// While the function is down records do not age.
func TestNothingAgesInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 10, BatchBytes: 6 << 20}, encoder)
		m.fill(0, 100, 10, time.Now())
		d := &dead{}
		p, _ := pool(t, m, func(context.Context, *invoke.Request) (invoke.Response, error) {
			return invoke.Response{}, &invoke.Error{Kind: invoke.Unreachable}
		}, func(c *Config) {
			finite(d)(c)
			c.Policy.MaximumRecordAge = time.Minute
		})
		p.Resize(1)
		time.Sleep(10 * time.Minute)
		stop(t, p)
		if len(d.got) != 0 || m.left() != 100 {
			t.Errorf("%d dead letters, %d left", len(d.got), m.left())
		}
	})
}

// Mappings that call one function share its limit, and each gets its turn.
func TestMaxConcurrencyIsSharedByMappings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := NewGate(circuit.Limits{MaxConcurrency: 4})
		var mu sync.Mutex
		out, most := 0, 0
		served := map[string]int{}
		f := func(_ context.Context, req *invoke.Request) (invoke.Response, error) {
			mu.Lock()
			out++
			most = max(most, out)
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			mu.Lock()
			out--
			served[req.Mapping]++
			mu.Unlock()
			return invoke.Response{}, nil
		}
		var pools []*Pool
		for i := range 3 {
			m := newMemory(inflight.Limits{BatchRecords: 1, BatchBytes: 6 << 20}, encoder)
			m.gate = gate
			for j := range 10 {
				m.fill(int32(j), 1000, 10, time.Now())
			}
			p, _ := pool(t, m, f, func(c *Config) { c.Mapping = fmt.Sprint("m", i); c.Gate = gate })
			p.Resize(2)
			pools = append(pools, p)
		}
		time.Sleep(30 * time.Second)
		mu.Lock()
		if most != 4 {
			t.Errorf("%d calls at once, want 4", most)
		}
		total := 0
		for name, n := range served {
			total += n
			if n < 300 {
				t.Errorf("%s was served %d times of 1200", name, n)
			}
		}
		if total < 1150 {
			t.Errorf("%d calls in 30 s; 4 at once make 1200", total)
		}
		mu.Unlock()
		for _, p := range pools {
			stop(t, p)
		}
	})
}

// A function that takes at most so many calls at once is found out (AIMD): little is refused, and it is kept busy.
func TestThrottlingLowersConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 1, BatchBytes: 6 << 20}, encoder)
		for i := range 40 {
			m.fill(int32(i), 10_000, 10, time.Now())
		}
		var mu sync.Mutex
		out, taken, refused := 0, 0, 0
		p, _ := pool(t, m, func(context.Context, *invoke.Request) (invoke.Response, error) {
			mu.Lock()
			out++
			over := out > 8
			mu.Unlock()
			defer func() { mu.Lock(); out--; mu.Unlock() }()
			if over {
				mu.Lock()
				refused++
				mu.Unlock()
				return invoke.Response{}, &invoke.Error{Kind: invoke.Throttled, Status: 429}
			}
			time.Sleep(50 * time.Millisecond)
			mu.Lock()
			taken++
			mu.Unlock()
			return invoke.Response{}, nil
		}, func(c *Config) {
			c.Policy = &failure.Policy{MaximumRetryAttempts: 0, InitialBackoff: 100 * time.Millisecond, MaximumBackoff: time.Second}
		})
		p.Resize(6)
		time.Sleep(time.Minute)
		stop(t, p)
		if possible := 8 * 20 * 60; taken < possible*70/100 || refused > taken/5 {
			t.Errorf("%d taken of %d possible, %d refused", taken, possible, refused)
		}
	})
}
