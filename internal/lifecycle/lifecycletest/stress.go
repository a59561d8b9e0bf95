// Package lifecycletest holds a part against the start/stop contract of package lifecycle, by starting and stopping it
// in every order that a program may, and looking for goroutines that stayed behind. Every long-lived part's tests call
// Stress.
package lifecycletest

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sluicehq/sluice/internal/lifecycle"
)

// patience is how long one call of Start or Stop may take before it counts as hung.
const patience = 30 * time.Second

// rounds is how often a story with chance in it is told.
const rounds = 25

// Stress tells every story of starts and stops about parts that newPart makes, each with a new one. A part need not be
// able to do its work: one whose Start fails is welcome, it must only clean up. ignore is handed to goleak, for
// goroutines that are not the part's.
func Stress(t *testing.T, newPart func() lifecycle.Part, ignore ...goleak.Option) {
	t.Helper()
	stories := []struct {
		name   string
		rounds int
		tell   func(t *testing.T, part lifecycle.Part, chance *rand.Rand)
	}{
		{"start then stop", 3, startStop},
		{"stop twice", 1, stopTwice},
		{"stop before start", 1, stopFirst},
		{"start twice", 1, startTwice},
		{"start with a context that has ended", 1, startEnded},
		{"stop with a deadline that has passed", 3, stopNow},
		{"several starts at once", rounds, manyStarts},
		{"several stops at once", rounds, manyStops},
		{"stop while starting", rounds, stopWhileStarting},
	}
	for _, story := range stories {
		t.Run(story.name, func(t *testing.T) {
			leftAlone := append([]goleak.Option{goleak.IgnoreCurrent()}, ignore...)
			for round := range story.rounds {
				story.tell(t, newPart(), rand.New(rand.NewPCG(1, uint64(round))))
				if t.Failed() {
					return
				}
			}
			goleak.VerifyNone(t, leftAlone...)
		})
	}
}

func startStop(t *testing.T, part lifecycle.Part, _ *rand.Rand) {
	start(t, part, t.Context())
	stop(t, part, t.Context())
}

func stopTwice(t *testing.T, part lifecycle.Part, _ *rand.Rand) {
	start(t, part, t.Context())
	stop(t, part, t.Context())
	stop(t, part, t.Context())
}

func stopFirst(t *testing.T, part lifecycle.Part, _ *rand.Rand) {
	stop(t, part, t.Context())
	if err := start(t, part, t.Context()); !errors.Is(err, lifecycle.ErrStopped) {
		t.Errorf("Start after Stop: %v, want ErrStopped", err)
	}
	stop(t, part, t.Context())
}

func startTwice(t *testing.T, part lifecycle.Part, _ *rand.Rand) {
	start(t, part, t.Context())
	// A part that has failed meanwhile is stopped.
	if err := start(t, part, t.Context()); !errors.Is(err, lifecycle.ErrStarted) && !errors.Is(err, lifecycle.ErrStopped) {
		t.Errorf("second Start: %v, want ErrStarted", err)
	}
	stop(t, part, t.Context())
}

func startEnded(t *testing.T, part lifecycle.Part, _ *rand.Rand) {
	start(t, part, ended())
	stop(t, part, t.Context())
}

func stopNow(t *testing.T, part lifecycle.Part, _ *rand.Rand) {
	start(t, part, t.Context())
	stop(t, part, ended())
}

func manyStarts(t *testing.T, part lifecycle.Part, chance *rand.Rand) {
	var mu sync.Mutex
	ready := 0
	atOnce(chance, 4, func(int) {
		if start(t, part, t.Context()) == nil {
			mu.Lock()
			ready++
			mu.Unlock()
		}
	})
	if ready > 1 {
		t.Errorf("%d of 4 Starts returned nil, want at most one", ready)
	}
	stop(t, part, t.Context())
}

func manyStops(t *testing.T, part lifecycle.Part, chance *rand.Rand) {
	start(t, part, t.Context())
	atOnce(chance, 4, func(i int) {
		ctx := t.Context()
		if i == 3 && chance.IntN(2) == 0 {
			ctx = ended()
		}
		stop(t, part, ctx)
	})
}

func stopWhileStarting(t *testing.T, part lifecycle.Part, chance *rand.Rand) {
	atOnce(chance, 3, func(i int) {
		if i == 0 {
			start(t, part, t.Context())
		} else {
			stop(t, part, t.Context())
		}
	})
	stop(t, part, t.Context())
}

// atOnce calls f(0) … f(n-1) in goroutines that begin at slightly different moments, and waits for them.
func atOnce(chance *rand.Rand, n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		yields := chance.IntN(50)
		all.Go(func() {
			for range yields {
				runtime.Gosched()
			}
			f(i)
		})
	}
	all.Wait()
}

func start(t *testing.T, part lifecycle.Part, ctx context.Context) error {
	return within(t, "Start", func() error { return part.Start(ctx) })
}

// stop ignores the error: what a cut or failed part reports is its own tests' matter. That it returns is ours.
func stop(t *testing.T, part lifecycle.Part, ctx context.Context) {
	_ = within(t, "Stop", func() error { return part.Stop(ctx) })
}

// within panics when f hangs: only a dump of all goroutines shows for what it waits.
func within(t *testing.T, name string, f func() error) error {
	overdue := time.AfterFunc(patience, func() {
		panic(t.Name() + ": " + name + " has not returned after " + patience.String())
	})
	defer overdue.Stop()
	return f()
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
