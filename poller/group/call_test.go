package group

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
)

// TestACallIsAContext: whatever is derived from a call ends with it, asked before or after.
func TestACallIsAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		c := &call{parent: context.WithValue(t.Context(), key{}, 1), deadline: time.Now().Add(time.Minute)}
		child, cancel := context.WithTimeout(c, time.Hour)
		defer cancel()
		free, cancelFree := context.WithCancel(c)
		called := make(chan bool, 2)
		stopped := context.AfterFunc(c, func() { called <- false })
		context.AfterFunc(c, func() { called <- true })
		if !stopped() || stopped() {
			t.Error("a function that was stopped once")
		}
		cancelFree()
		if at, ok := child.Deadline(); !ok || !at.Equal(c.deadline) || child.Value(key{}) != 1 || c.Err() != nil || child.Err() != nil || free.Err() == nil {
			t.Errorf("deadline %v, value %v, errors %v, %v, %v", at, child.Value(key{}), c.Err(), child.Err(), free.Err())
		}
		select {
		case <-c.Done():
			t.Error("done before its end")
		default:
		}
		c.end(context.DeadlineExceeded)
		c.cancel() // comes too late
		<-c.Done()
		<-child.Done()
		late := make(chan struct{})
		c.AfterFunc(func() { close(late) })
		<-late
		if !<-called || !errors.Is(c.Err(), context.DeadlineExceeded) || !errors.Is(child.Err(), context.DeadlineExceeded) {
			t.Errorf("errors %v, %v", c.Err(), child.Err())
		}
		ended := &call{parent: t.Context()}
		ended.cancel()
		<-ended.Done()
	})
}

// TestCallsTimeOutEachAtItsTime with one timer.
func TestCallsTimeOutEachAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Config{
			Metrics: metric.New().Mapping("m"), FunctionTimeout: time.Second, Gate: poller.NewGate(circuit.Limits{}),
			Limits: inflight.Limits{BatchRecords: 1, BatchBytes: 1 << 20},
		})
		began := time.Now()
		ended := make(chan int, 10)
		for i := range 10 {
			f.mu.Lock()
			l := f.lend(time.Now(), &inflight.Lease{}, circuit.Pass{})
			f.mu.Unlock()
			if i%3 == 0 { // settled before its time
				f.mu.Lock()
				delete(f.leases, l.Lease)
				f.mu.Unlock()
				l.Cancel()
			} else {
				context.AfterFunc(l.Context, func() {
					if !errors.Is(l.Context.Err(), context.DeadlineExceeded) {
						t.Errorf("call %d: %v", i, l.Context.Err())
					}
					if d := time.Since(began); d != time.Duration(i)*100*time.Millisecond+time.Second {
						t.Errorf("call %d ended after %v", i, d)
					}
					ended <- i
				})
			}
			time.Sleep(100 * time.Millisecond)
		}
		for range 6 {
			<-ended
		}
	})
}
