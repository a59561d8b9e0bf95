package controller_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/controller"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
)

// Fault 72: metric objects leaked. A thousand mappings come, work and go in one process with one registry; goroutines,
// series and heap are what they were.
func TestAThousandMappingsLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics, buffers := metric.New(), invoke.NewBuffers(1<<20)
		number := 0
		round := func() {
			var ms []mapping.Mapping
			for range 50 {
				number++
				m := mapping.New(mapping.Name(fmt.Sprintf("m%04d", number)), "fn", "main", "orders")
				m.BatchingWindow = 0
				ms = append(ms, m)
			}
			c := controller.New(ms, controller.Options{
				Version: "test", Opener: &crowd{}, Metrics: metrics, Buffers: buffers, DrainTimeout: 5 * time.Second,
				FunctionTimeout: func(*mapping.Mapping) time.Duration { return 10 * time.Second }, Log: slog.New(slog.DiscardHandler),
			})
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			if st := only(c); st.Counts.Invoked != 100 {
				t.Fatalf("%s: %d invoked of 100", st.Name, st.Counts.Invoked)
			}
			stop(t, c)
			for i := range ms {
				metrics.Remove(string(ms[i].Name))
			}
		}
		use := func() (goroutines, series int, heap uint64) {
			families, err := metrics.Gatherer().Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				series += len(f.Metric)
			}
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return runtime.NumGoroutine(), series, m.HeapAlloc
		}
		round()
		round()
		goroutines, series, heap := use()
		for number < 1100 {
			round()
		}
		g, s, h := use()
		t.Logf("%d goroutines, %d series, %d B; after 1 000 mappings %d, %d, %d", goroutines, series, heap, g, s, h)
		if g > goroutines || s > series || h > heap+heap/20 {
			t.Errorf("%d goroutines, %d series, %d B; after 1 000 mappings %d, %d, %d", goroutines, series, heap, g, s, h)
		}
	})
}

// crowd opens a world of its own for each mapping.
type crowd struct{}

// Encoder is controller.Opener's.
func (*crowd) Encoder(m *mapping.Mapping) poller.Encoder { return (&world{}).Encoder(m) }

// Open is controller.Opener's.
func (*crowd) Open(ctx context.Context, m *mapping.Mapping, s controller.FeedSpec) (*controller.Adapters, error) {
	return (&world{backlog: 100}).Open(ctx, m, s)
}
