package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/internal/lifecycle/lifecycletest"
)

// part is a lifecycle.Part made of functions.
type part struct {
	lifecycle.Unit
	begin func(context.Context, lifecycle.Run) error
}

func (p *part) Start(ctx context.Context) error { return p.Begin(ctx, p.begin) }

var errBroken = errors.New("broken")

func TestStress(t *testing.T) {
	parts := map[string]func(context.Context, lifecycle.Run) error{
		"with nothing running": func(context.Context, lifecycle.Run) error { return nil },
		"with goroutines that drain": func(_ context.Context, run lifecycle.Run) error {
			run.Cleanup(func() {})
			for range 3 {
				run.Go(func() error { <-run.Fetching().Done(); return nil })
			}
			return nil
		},
		"with a goroutine that works until it is cut": func(_ context.Context, run lifecycle.Run) error {
			run.Go(func() error {
				<-run.Fetching().Done()
				select {
				case <-run.Working().Done():
				case <-time.After(5 * time.Millisecond):
				}
				return nil
			})
			return nil
		},
		"that fails to start": func(_ context.Context, run lifecycle.Run) error {
			run.Go(func() error { <-run.Working().Done(); return nil })
			return errBroken
		},
		"that takes a while to start": func(ctx context.Context, run lifecycle.Run) error {
			run.Go(func() error { <-run.Fetching().Done(); return run.Fetching().Err() })
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(2 * time.Millisecond):
				return nil
			}
		},
		"that fails while running": func(_ context.Context, run lifecycle.Run) error {
			run.Go(func() error { return errBroken })
			run.Go(func() error { <-run.Fetching().Done(); return nil })
			return nil
		},
	}
	for name, begin := range parts {
		t.Run(name, func(t *testing.T) {
			lifecycletest.Stress(t, func() lifecycle.Part { return &part{begin: begin} })
		})
	}
}

func TestStopLetsWorkInFlightSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := false
		p := &part{begin: func(_ context.Context, run lifecycle.Run) error {
			run.Go(func() error {
				<-run.Fetching().Done()
				time.Sleep(10 * time.Second)
				settled = run.Working().Err() == nil
				return nil
			})
			return nil
		}}
		begin(t, p)
		deadline, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		if err := p.Stop(deadline); err != nil {
			t.Errorf("Stop: %v", err)
		}
		if !settled {
			t.Error("the working context ended before the work")
		}
	})
}

func TestStopCutsWorkAtTheEarliestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &part{begin: func(_ context.Context, run lifecycle.Run) error {
			run.Go(func() error { <-run.Working().Done(); return nil })
			return nil
		}}
		begin(t, p)
		began := time.Now()
		late, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		first := make(chan error)
		go func() { first <- p.Stop(late) }()
		soon, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		if err := p.Stop(soon); !errors.Is(err, lifecycle.ErrCut) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Stop: %v, want ErrCut with the deadline", err)
		}
		if err := <-first; err != nil {
			t.Errorf("the patient Stop: %v", err)
		}
		if took := time.Since(began); took != 25*time.Second {
			t.Errorf("stopped after %v, want 25s", took)
		}
	})
}

func TestStartFailsWithNothingLeftBehind(t *testing.T) {
	var order []string
	p := &part{begin: func(_ context.Context, run lifecycle.Run) error {
		run.Cleanup(func() { order = append(order, "cleanup 1") })
		run.Cleanup(func() { order = append(order, "cleanup 2") })
		run.Go(func() error {
			<-run.Working().Done()
			order = append(order, "goroutine")
			return nil
		})
		return errBroken
	}}
	if err := p.Start(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("Start: %v, want %v", err, errBroken)
	}
	if want := []string{"goroutine", "cleanup 2", "cleanup 1"}; !slices.Equal(order, want) {
		t.Errorf("undone in the order %q, want %q", order, want)
	}
}

func TestStartIsInterruptedByStop(t *testing.T) {
	starting := make(chan struct{})
	p := &part{begin: func(ctx context.Context, _ lifecycle.Run) error {
		close(starting)
		<-ctx.Done()
		return ctx.Err()
	}}
	started := make(chan error)
	go func() { started <- p.Start(context.Background()) }()
	<-starting
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if err := <-started; !errors.Is(err, lifecycle.ErrStopped) {
		t.Errorf("Start: %v, want ErrStopped", err)
	}
}

func TestAFailureWhileRunningSurfaces(t *testing.T) {
	broken := make(chan struct{})
	p := &part{begin: func(_ context.Context, run lifecycle.Run) error {
		run.Go(func() error { <-broken; return errBroken })
		run.Go(func() error { <-run.Fetching().Done(); return run.Fetching().Err() })
		return nil
	}}
	begin(t, p)
	if err := p.Err(); err != nil {
		t.Errorf("Err while running: %v", err)
	}
	close(broken)
	<-p.Stopping()
	<-p.Done()
	if err := p.Err(); !errors.Is(err, errBroken) {
		t.Errorf("Err: %v, want %v", err, errBroken)
	}
	if err := p.Stop(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("Stop: %v, want %v", err, errBroken)
	}
}

func TestNothingStartsAfterTheEnd(t *testing.T) {
	var kept lifecycle.Run
	p := &part{begin: func(_ context.Context, run lifecycle.Run) error { kept = run; return nil }}
	begin(t, p)
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kept.Go(func() error { t.Error("ran"); return nil }) {
		t.Error("Go said that it started a goroutine")
	}
	called := false
	kept.Cleanup(func() { called = true })
	if !called {
		t.Error("a late cleanup was forgotten")
	}
}

func begin(t *testing.T, p *part) {
	t.Helper()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}
