package poller

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

func good(context.Context, *invoke.Request) (invoke.Response, error) {
	return invoke.Response{Status: 200}, nil
}

func stop(t *testing.T, p *Pool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
}

// AWS, Stream mode: 5 invocations at once a poller; product contract, «Modes»: min(5 × pollers, partitions with work).
func TestConcurrencyIsFiveAPollerAndNoMoreThanPartitions(t *testing.T) {
	for _, tc := range []struct{ pollers, partitions, want int }{{1, 20, 5}, {2, 20, 10}, {3, 7, 7}} {
		t.Run(fmt.Sprintf("%d pollers on %d partitions", tc.pollers, tc.partitions), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(inflight.Limits{BatchRecords: 1, BatchBytes: 6 << 20}, encoder)
				for i := range tc.partitions {
					m.fill(int32(i), 10, 10, time.Now())
				}
				var now, most atomic.Int32
				p, _ := pool(t, m, func(context.Context, *invoke.Request) (invoke.Response, error) {
					n := now.Add(1)
					for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
					}
					time.Sleep(100 * time.Millisecond)
					now.Add(-1)
					return invoke.Response{}, nil
				}, nil)
				p.Resize(tc.pollers)
				time.Sleep(time.Minute)
				stop(t, p)
				if int(most.Load()) != tc.want || m.left() != 0 {
					t.Errorf("%d at once, want %d; %d records left", most.Load(), tc.want, m.left())
				}
			})
		})
	}
}

// Product contract, «Scaling»: each poller has a byte budget of its own; retries are free of it.
func TestEveryPollerHasItsOwnByteBudget(t *testing.T) {
	for pollers := 1; pollers <= 3; pollers++ {
		t.Run(fmt.Sprintf("%d pollers", pollers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(inflight.Limits{BatchRecords: 10, BatchBytes: 6 << 20}, encoder)
				for i := range 20 {
					m.fill(int32(i), 600, 1000, time.Now())
				}
				p, metrics := pool(t, m, func(context.Context, *invoke.Request) (invoke.Response, error) {
					time.Sleep(5 * time.Millisecond)
					return invoke.Response{}, nil
				}, func(c *Config) { c.Throughput = 100_000 })
				p.Resize(pollers)
				time.Sleep(30 * time.Second)
				took := 12_000 - m.left()
				stop(t, p)
				want := 3_000 * pollers
				if took < want*95/100 || took > want*105/100 {
					t.Errorf("%d kB in 30 s, want %d within 5 %%", took, want)
				}
				if metrics.ThrottledTime.Value() == 0 {
					t.Error("nothing says that the budget held the pollers back")
				}
			})
		})
	}
}

func TestALongestDrainIsWaitedForAndACutOneIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 1, BatchBytes: 6 << 20}, encoder)
		m.fill(0, 3, 10, time.Now())
		p, _ := pool(t, m, func(context.Context, *invoke.Request) (invoke.Response, error) {
			time.Sleep(5 * time.Second)
			return invoke.Response{}, nil
		}, nil)
		p.Resize(1)
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a drain of 1 s of a call of 5 s ended with %v", err)
		}
		stop(t, p)
		if m.left() != 2 {
			t.Errorf("%d records left; the one that was out should have settled, and no other", m.left())
		}
	})
}

func TestScaleDownLetsCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 1, BatchBytes: 6 << 20}, encoder)
		for i := range 20 {
			m.fill(int32(i), 50, 10, time.Now())
		}
		var failed atomic.Int32
		p, metrics := pool(t, m, func(ctx context.Context, _ *invoke.Request) (invoke.Response, error) {
			time.Sleep(100 * time.Millisecond)
			if ctx.Err() != nil {
				failed.Add(1)
			}
			return invoke.Response{}, nil
		}, nil)
		for range 5 {
			p.Resize(4)
			time.Sleep(250 * time.Millisecond)
			p.Resize(1)
			time.Sleep(250 * time.Millisecond)
		}
		if n := p.Size(); n != 1 {
			t.Errorf("%d pollers", n)
		}
		p.Resize(4)
		time.Sleep(time.Minute)
		stop(t, p)
		if m.left() != 0 || failed.Load() != 0 || metrics.Invoked.Value() != 1000 {
			t.Errorf("%d left, %d cut, %d invoked of 1000", m.left(), failed.Load(), metrics.Invoked.Value())
		}
	})
}

// Fault 80 and product contract, «Functions»: what is refused for its size is split at once, and a record that is too
// large alone goes to the destination.
func TestTooLargeIsSplitAndAloneGoesToTheDestination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 100, BatchBytes: 6 << 20}, encoder)
		m.fill(0, 64, 1000, time.Now())
		d := &dead{}
		calls := 0
		p, metrics := pool(t, m, func(_ context.Context, req *invoke.Request) (invoke.Response, error) {
			calls++
			if len(req.Body) > 10_000 {
				return invoke.Response{}, &invoke.Error{Kind: invoke.TooLarge, Status: 413}
			}
			return invoke.Response{}, nil
		}, func(c *Config) {
			c.Policy = &failure.Policy{MaximumRetryAttempts: 0, Destination: true, InitialBackoff: time.Hour, MaximumBackoff: time.Hour}
			c.Destination = d
		})
		p.Resize(1)
		time.Sleep(time.Second) // no backoff: a pause would be an hour
		if m.left() != 0 || len(d.got) != 0 || calls != 1+2+4+8+16-1 && calls > 40 {
			t.Errorf("%d left, %d dead letters, %d calls", m.left(), len(d.got), calls)
		}
		m.fill(1, 1, 7<<20, time.Now())
		time.Sleep(time.Second)
		stop(t, p)
		if len(d.got) != 1 || d.got[0].Retry.GiveUp != record.MaximumPayloadSizeExceeded {
			t.Errorf("dead letters: %+v", d.got)
		}
		if n := metrics.OnFailureDestinationDelivered.Value(); n != 1 {
			t.Errorf("%d counted as delivered", n)
		}
	})
}

// Fault 48: records over their age are given up without a call.
func TestRecordsOverTheirAgeAreNotHandedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 100, BatchBytes: 6 << 20}, encoder)
		m.fill(0, 5, 10, time.Now().Add(-2*time.Minute))
		m.fill(1, 5, 10, time.Now())
		d := &dead{}
		p, metrics := pool(t, m, good, func(c *Config) {
			c.Policy = &failure.Policy{MaximumRetryAttempts: -1, MaximumRecordAge: time.Minute, Destination: true}
			c.Destination = d
		})
		p.Resize(1)
		time.Sleep(time.Second)
		stop(t, p)
		if len(d.got) != 1 || len(d.got[0].Records) != 5 || d.got[0].Retry.GiveUp != record.RecordAgeExceeded {
			t.Errorf("dead letters: %+v", d.got)
		}
		if n := metrics.Invoked.Value(); n != 5 || m.left() != 0 {
			t.Errorf("%d invoked, %d left", n, m.left())
		}
	})
}

// Fault 45: the last retry has a consequence also where there is no destination.
func TestExhaustedWithoutDestinationIsDroppedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 10, BatchBytes: 6 << 20}, encoder)
		m.fill(0, 3, 10, time.Now())
		p, metrics := pool(t, m, func(context.Context, *invoke.Request) (invoke.Response, error) {
			return invoke.Response{}, &invoke.Error{Kind: invoke.FunctionError, Status: 500}
		}, func(c *Config) {
			c.Policy = &failure.Policy{MaximumRetryAttempts: 5, InitialBackoff: time.Second, MaximumBackoff: time.Minute}
		})
		p.Resize(1)
		time.Sleep(10 * time.Minute)
		stop(t, p)
		if metrics.Batches.Value() != 6 || metrics.Dropped.Value() != 3 || m.left() != 0 {
			t.Errorf("%d calls, %d dropped, %d left; want 6, 3, 0", metrics.Batches.Value(), metrics.Dropped.Value(), m.left())
		}
	})
}

// Fault 81: no call inside Retry-After, no attempt spent.
func TestRetryAfterIsHonouredAndSpendsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 10, BatchBytes: 6 << 20}, encoder)
		m.fill(0, 3, 10, time.Now())
		began := time.Now()
		var at []time.Duration
		p, metrics := pool(t, m, func(context.Context, *invoke.Request) (invoke.Response, error) {
			at = append(at, time.Since(began))
			if time.Since(began) < 30*time.Second {
				return invoke.Response{}, &invoke.Error{Kind: invoke.Throttled, Status: 429, RetryAfter: 5 * time.Second}
			}
			return invoke.Response{}, nil
		}, func(c *Config) {
			c.Policy = &failure.Policy{MaximumRetryAttempts: 0, InitialBackoff: time.Second, MaximumBackoff: 2 * time.Second}
		})
		p.Resize(1)
		time.Sleep(2 * time.Minute)
		stop(t, p)
		for i := 1; i < len(at); i++ {
			if at[i]-at[i-1] < 5*time.Second {
				t.Errorf("called again after %s", at[i]-at[i-1])
			}
		}
		if metrics.Dropped.Value() != 0 || m.left() != 0 {
			t.Errorf("%d dropped, %d left", metrics.Dropped.Value(), m.left())
		}
	})
}

// A dead letter has time of its own: the function's time-out may be what used up the lease's.
func TestADeadLetterIsDeliveredAfterATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 10, BatchBytes: 6 << 20}, encoder)
		m.fill(0, 1, 10, time.Now())
		d := &dead{}
		p, metrics := pool(t, m, func(ctx context.Context, _ *invoke.Request) (invoke.Response, error) {
			time.Sleep(10 * time.Second)
			return invoke.Response{}, &invoke.Error{Kind: invoke.Timeout, Err: ctx.Err()}
		}, func(c *Config) {
			c.Policy = &failure.Policy{MaximumRetryAttempts: 0, Destination: true}
			c.Destination = d
		})
		p.Resize(1)
		time.Sleep(time.Minute)
		stop(t, p)
		if len(d.got) != 1 || metrics.OnFailureDestinationDeliveryErrors.Value() != 0 {
			t.Errorf("%d dead letters, %d delivery errors", len(d.got), metrics.OnFailureDestinationDeliveryErrors.Value())
		}
	})
}

// A destination that is down is told by the watch, and by nothing else once it is up again.
func TestTheWatchTellsWhatIsHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(inflight.Limits{BatchRecords: 10, BatchBytes: 6 << 20}, encoder)
		m.fill(0, 1, 10, time.Now())
		d := &dead{err: errors.New("no such topic")}
		var w *Watch
		p, _ := pool(t, m, func(context.Context, *invoke.Request) (invoke.Response, error) {
			return invoke.Response{}, &invoke.Error{Kind: invoke.FunctionError, Status: 500}
		}, func(c *Config) {
			c.Policy = &failure.Policy{MaximumRetryAttempts: 0, Destination: true, InitialBackoff: time.Second, MaximumBackoff: 10 * time.Second}
			c.Destination = d
			w = c.Watch
		})
		p.Resize(1)
		time.Sleep(time.Minute)
		if result, detail := w.Result(true); result != "PROBLEM: On-failure destination" || detail != "orders-0@0 held: no such topic" {
			t.Errorf("result %q, %q", result, detail)
		}
		d.mu.Lock()
		d.err = nil
		d.mu.Unlock()
		time.Sleep(time.Minute)
		stop(t, p)
		if w.Held() != "" || len(d.got) != 1 || m.left() != 0 {
			t.Errorf("held %q, %d dead letters, %d left", w.Held(), len(d.got), m.left())
		}
	})
}
