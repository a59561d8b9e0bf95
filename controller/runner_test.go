package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/controller"
	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/internal/lifecycle/lifecycletest"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/record"
)

func TestAMappingRunsSettlesAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		c := run(t, w, nil)
		time.Sleep(1500 * time.Millisecond)
		w.get().add(1000)
		time.Sleep(5 * time.Second)
		st := only(c)
		if st.State != "Enabled" || !st.Ready || st.LastProcessingResult != "OK" || st.Lag == nil || *st.Lag != 0 {
			t.Errorf("status: %+v", st)
		}
		stop(t, c)
		stop(t, c)
		if w.opened != 1 || w.closed != 1 {
			t.Errorf("opened %d, closed %d", w.opened, w.closed)
		}
	})
}

func TestADisabledMappingDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		c := run(t, w, func(m *mapping.Mapping) { m.Enabled = false })
		time.Sleep(time.Minute)
		if st := only(c); st.State != "Disabled" || !st.Ready || w.opened != 0 {
			t.Errorf("status: %+v, opened %d", st, w.opened)
		}
		if err := c.UntilLagZero(t.Context()); err != nil {
			t.Error(err)
		}
		stop(t, c)
	})
}

// What cannot be opened is tried again, with the reason in status and readiness; a refusal says itself.
func TestWhatCannotBeOpenedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{openErr: errors.New("no route")}
		c := run(t, w, nil)
		time.Sleep(10 * time.Second)
		if ok, reasons := c.Ready(); ok || len(reasons) != 1 || reasons[0] != "orders: no route" {
			t.Errorf("ready: %v %v", ok, reasons)
		}
		if st := only(c); st.State != "Creating" || !strings.Contains(st.LastProcessingResult, "no route") {
			t.Errorf("status: %+v", st)
		}
		w.mu.Lock()
		w.openErr = nil
		w.mu.Unlock()
		time.Sleep(time.Minute)
		if ok, reasons := c.Ready(); !ok {
			t.Errorf("ready: %v", reasons)
		}
		stop(t, c)
	})
}

func TestAStuckPartitionShowsItsReasonEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{function: func(context.Context, *invoke.Request) (invoke.Response, error) {
			return invoke.Response{}, &invoke.Error{Kind: invoke.FunctionError, Status: 503}
		}}
		c := run(t, w, nil)
		time.Sleep(time.Second)
		w.get().add(5)
		time.Sleep(30 * time.Second)
		st := only(c)
		if len(st.Partitions) != 1 || st.Partitions[0].Stalled == nil || !st.Ready {
			t.Fatalf("status: %+v", st)
		}
		reason := st.Partitions[0].Stalled.Reason
		if !strings.HasPrefix(reason, "waiting in backoff for orders-0@0, attempt ") || !strings.HasSuffix(reason, ", 503") {
			t.Errorf("reason %q", reason)
		}
		e, err := c.Explain("orders", &record.TopicPartition{Partition: 0})
		if err != nil || len(e.Partitions) != 1 || e.Partitions[0].Wait.LastError.Status != 503 || e.Partitions[0].Wait.NextAttemptAt == nil {
			t.Errorf("explanation: %+v, %v", e, err)
		}
		time.Sleep(time.Minute) // longer than readiness bears
		if ok, reasons := c.Ready(); ok || !strings.Contains(fmt.Sprint(reasons), "orders-0 has made no progress for") {
			t.Errorf("ready: %v %v", ok, reasons)
		}
		stop(t, c)
	})
}

// Fault 52: a record that hung left the process running and dead, and nothing said so. Whether a call never ends or each
// runs into its time-out, readiness tells within two minutes and names the record.
func TestARecordThatHangsTurnsReadinessRed(t *testing.T) {
	for name, hang := range map[string]func(context.Context) error{
		"one call that never ends": func(ctx context.Context) error {
			<-ctx.Done()
			return &invoke.Error{Kind: invoke.Canceled, Err: ctx.Err()}
		},
		"time-out after time-out": func(context.Context) error {
			time.Sleep(10 * time.Second)
			return &invoke.Error{Kind: invoke.Timeout}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stopped, end := context.WithCancel(context.Background())
				w := &world{function: func(context.Context, *invoke.Request) (invoke.Response, error) {
					return invoke.Response{}, hang(stopped)
				}}
				c := run(t, w, nil)
				time.Sleep(time.Second)
				w.get().add(1)
				time.Sleep(50 * time.Second)
				if ok, reasons := c.Ready(); !ok {
					t.Errorf("not ready before the minute is over: %v", reasons)
				}
				time.Sleep(time.Minute)
				ok, reasons := c.Ready()
				if said := fmt.Sprint(reasons); ok || !strings.Contains(said, "orders-0@0") || !strings.Contains(said, "no progress for 1m") {
					t.Errorf("ready: %t %v", ok, reasons)
				}
				end()
				w.mu.Lock()
				w.function = nil
				w.mu.Unlock()
				stop(t, c)
			})
		})
	}
}

// A failure that has found its end, here by being dropped, is no reason for anything any more.
func TestWhatIsSettledHasNoReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{backlog: 1, function: func(context.Context, *invoke.Request) (invoke.Response, error) {
			return invoke.Response{}, &invoke.Error{Kind: invoke.FunctionError, Status: 500}
		}}
		c := run(t, w, func(m *mapping.Mapping) { m.MaximumRetryAttempts = 0 })
		time.Sleep(5 * time.Second)
		e, err := c.Explain("orders", nil)
		if err != nil || e.Summary != "everything is settled; there is no lag" || e.StateReason != "" {
			t.Errorf("%q (%s), %v", e.Summary, e.StateReason, err)
		}
		if st := only(c); st.Counts.Dropped != 1 || st.Counts.Settled != 1 {
			t.Errorf("%+v", st.Counts)
		}
		stop(t, c)
	})
}

func TestAFunctionThatIsDownIsToldInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{backlog: 5, function: func(context.Context, *invoke.Request) (invoke.Response, error) {
			return invoke.Response{}, &invoke.Error{Kind: invoke.Unreachable, Err: errors.New("refused")}
		}}
		c := run(t, w, nil)
		time.Sleep(30 * time.Second)
		if st := only(c); st.LastProcessingResult != "PROBLEM: Function call failed" || st.StateReason != "function fn has been down for 30s (Unreachable)" {
			t.Errorf("status: %q, %q", st.LastProcessingResult, st.StateReason)
		}
		e, err := c.Explain("orders", nil)
		if err != nil || e.Summary != "function fn has been down for 30s (Unreachable); the last error was Unreachable: refused" {
			t.Errorf("explanation: %q, %v", e.Summary, err)
		}
		// The error stands in the summary, and not again with each partition.
		if said := e.Partitions[0].Sentence; !strings.HasPrefix(said, "waiting for the function to come back, with orders-0@0 (") || strings.Contains(said, "refused") {
			t.Errorf("partition: %q", said)
		}
		stop(t, c)
	})
}

func TestAClusterProblemIsToldInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{lagErr: errors.New("closed port")}
		c := run(t, w, nil)
		time.Sleep(time.Second)
		w.get().joined.Store(false)
		time.Sleep(3 * time.Second)
		st := only(c)
		if want := "has not joined its group: explained closed port; do something"; st.NotReadyReason != want || st.Lag != nil {
			t.Errorf("not ready because %q, lag %v; want %q", st.NotReadyReason, st.Lag, want)
		}
		ds, err := c.Decisions("orders")
		if err != nil || len(ds) == 0 || ds[0].Reading.Lag != nil || !strings.Contains(ds[0].Reason, "unchanged") {
			t.Errorf("decisions: %+v, %v", ds, err)
		}
		stop(t, c)
	})
}

// A cluster that does not answer shows in readiness after a while, and no longer once it does.
func TestReadinessFollowsTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		c := run(t, w, nil)
		time.Sleep(5 * time.Second)
		w.mu.Lock()
		w.lagErr = errors.New("closed port")
		w.mu.Unlock()
		time.Sleep(20 * time.Second)
		if ok, reasons := c.Ready(); !ok {
			t.Errorf("not ready after 20 s already: %v", reasons)
		}
		time.Sleep(20 * time.Second)
		if ok, reasons := c.Ready(); ok || !strings.Contains(fmt.Sprint(reasons), "explained closed port") {
			t.Errorf("ready: %v %v", ok, reasons)
		}
		w.mu.Lock()
		w.lagErr = nil
		w.mu.Unlock()
		time.Sleep(3 * time.Second)
		if ok, reasons := c.Ready(); !ok || only(c).LastProcessingResult != "No records processed" {
			t.Errorf("not ready: %v; %q", reasons, only(c).LastProcessingResult)
		}
		stop(t, c)
	})
}

func TestPollersFollowTheLagWithinTheirBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{function: func(context.Context, *invoke.Request) (invoke.Response, error) {
			time.Sleep(50 * time.Millisecond)
			return invoke.Response{}, nil
		}}
		c := run(t, w, func(m *mapping.Mapping) { m.BatchSize = 1; m.TargetDrainTime = 10 * time.Second })
		time.Sleep(time.Second)
		w.get().add(20_000)
		time.Sleep(30 * time.Second)
		st := only(c)
		// One partition: in Stream more than one poller is of no use.
		if st.Pollers.Now != 1 || st.Pollers.Minimum != 1 || st.Pollers.Maximum != 5 {
			t.Errorf("pollers: %+v", st.Pollers)
		}
		stop(t, c)
	})
}

// Of two processes of one group each scales for what is its own; status shows the lag of the whole mapping.
func TestEachProcessScalesForItsOwnPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{others: []controller.Offsets{{
			TopicPartition: record.TopicPartition{Topic: "orders", Partition: 1}, End: 1_000_000, Lag: 1_000_000,
		}}}
		c := run(t, w, nil)
		time.Sleep(10 * time.Second)
		if st := only(c); st.Pollers.Now != 1 || st.Lag == nil || *st.Lag != 1_000_000 {
			t.Errorf("%d pollers, lag %v", st.Pollers.Now, st.Lag)
		}
		ds, err := c.Decisions("orders")
		if err != nil || len(ds) == 0 || ds[0].Reading.Lag == nil || *ds[0].Reading.Lag != 0 || ds[0].Reading.ArrivingPerSecond > 0 {
			t.Errorf("decisions: %+v, %v", ds, err)
		}
		w.get().add(50)
		time.Sleep(5 * time.Second)
		if done := w.get().done.Load(); done != 50 {
			t.Errorf("%d settled of 50", done)
		}
		stop(t, c)
	})
}

func TestUntilLagZeroWaitsForWhatWasThereAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{backlog: 300, function: func(context.Context, *invoke.Request) (invoke.Response, error) {
			time.Sleep(200 * time.Millisecond)
			return invoke.Response{}, nil
		}}
		c := run(t, w, func(m *mapping.Mapping) { m.BatchSize = 10 })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := c.UntilLagZero(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after 2 s: %v", err)
		}
		if err := c.UntilLagZero(t.Context()); err != nil || w.get().done.Load() != 300 {
			t.Errorf("%v with %d settled", err, w.get().done.Load())
		}
		stop(t, c)
	})
}

func TestPartitionsThatAreNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{others: []controller.Offsets{{TopicPartition: record.TopicPartition{Topic: "orders", Partition: 5}}}}
		c := run(t, w, nil)
		time.Sleep(5 * time.Second)
		for tp, want := range map[record.TopicPartition]string{
			{Partition: 77}:                  "partition 77: not found; orders has 0 to 5",
			{Topic: "orders", Partition: 77}: "orders-77: not found; orders has 0 to 5",
			{Topic: "orders", Partition: 5}:  "orders-5: not found in this process: another one of group sluice-orders reads it now",
		} {
			if _, err := c.Explain("orders", &tp); !errors.Is(err, controller.ErrNotFound) || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
		stop(t, c)
	})
}

func TestNamesThatAreNotThere(t *testing.T) {
	c := newController(&world{}, mapping.New("orders", "fn", "main", "orders"))
	for _, err := range []error{
		func() error { _, err := c.Decisions("nobody"); return err }(),
		func() error { _, err := c.Explain("nobody", nil); return err }(),
		func() error { _, err := c.Explain("orders", &tp); return err }(),
	} {
		if !errors.Is(err, controller.ErrNotFound) {
			t.Errorf("error %v", err)
		}
	}
}

func TestLifecycle(t *testing.T) {
	lifecycletest.Stress(t, func() lifecycle.Part {
		return newController(&world{}, mapping.New("a", "fn", "main", "orders"), mapping.New("b", "fn", "main", "orders"))
	})
}
