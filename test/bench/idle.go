package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/test/bench/report"
)

const (
	// idleFew and idleMore are the numbers of mappings whose difference is what one costs: what a process has once drops out.
	idleFew, idleMore = 1, 21
	// disabledMore is the same for disabled ones, which cost so little that more are needed.
	disabledMore = 201
	// startAll and idleAll are the numbers of mappings that are started, and that idle.
	startAll, idleAll = 200, 1000
)

// idle measures mappings without records: one alone, as the difference between 21 and 1, and many together.
func (b *bench) idle(ctx context.Context) (report.Section, error) {
	s := report.Section{Setup: fmt.Sprintf("All on one topic of %d partitions without records, each in its own group, pollers 1 to 5. One mapping is the "+
		"difference between %d and %d, a disabled one between %d and %d; live heap and stacks after a collection, connections to the broker.",
		partitions, idleMore, idleFew, disabledMore, idleFew)}
	if err := b.newTopic(ctx, "idle", partitions); err != nil {
		return s, err
	}
	defer b.drop(ctx, "idle")
	each := b.seconds(10)
	bare, err := b.slope(ctx, idleMore, each, b.bareClients)
	if err != nil {
		return s, err
	}
	one, err := b.slope(ctx, idleMore, each, b.idleMappings("idle", true))
	if err != nil {
		return s, err
	}
	off, err := b.slope(ctx, disabledMore, b.seconds(2), b.idleMappings("disabled", false))
	if err != nil {
		return s, err
	}
	s.Figures = append(s.Figures, one.figures("an idle mapping", &bare)...)
	s.Figures = append(s.Figures, off.figures("a disabled mapping", nil)...)
	ready, _, err := b.many(ctx, startAll, 0)
	if err != nil {
		return s, err
	}
	s.Figures = append(s.Figures, alone("start of "+thousands(startAll)+" mappings", "all ready after", "s", report.Less, ready))
	all := b.count(idleAll)
	ready, use, err := b.many(ctx, all, b.seconds(30))
	if err != nil {
		return s, err
	}
	s.Figures = append(s.Figures,
		alone("start of "+thousands(int64(all))+" mappings", "all ready after", "s", report.Less, ready),
		alone(thousands(int64(all))+" idle mappings", "use of a core", "%", report.Less, 100*use))
	return s, nil
}

// upkeep is what a process holds, or what one mapping or client adds to it.
type upkeep struct {
	goroutines, heap, stacks, connections float64
}

func (u upkeep) figures(c string, beside *upkeep) []report.Figure {
	if beside == nil {
		beside = &upkeep{-1, -1, -1, -1}
	}
	var figures []report.Figure
	for _, f := range []struct {
		name, unit    string
		value, beside float64
	}{
		{"goroutines", "", u.goroutines, beside.goroutines},
		{"heap", "KiB", u.heap / 1024, beside.heap / 1024},
		{"stacks", "KiB", u.stacks / 1024, beside.stacks / 1024},
		{"connections", "", u.connections, beside.connections},
	} {
		figure := alone(c, f.name, f.unit, report.Less, f.value)
		if f.beside >= 0 {
			figure.Beside, figure.Others = "bare client", []float64{f.beside}
		}
		figures = append(figures, figure)
	}
	return figures
}

// slope is what each of the further ones adds.
func (b *bench) slope(ctx context.Context, more int, settle time.Duration, args func(n int) ([]string, error)) (upkeep, error) {
	few, err := b.upkeepOf(ctx, idleFew, settle, args)
	if err != nil {
		return upkeep{}, err
	}
	many, err := b.upkeepOf(ctx, more, settle, args)
	if err != nil {
		return upkeep{}, err
	}
	n := float64(more - idleFew)
	return upkeep{
		(many.goroutines - few.goroutines) / n, (many.heap - few.heap) / n, (many.stacks - few.stacks) / n,
		(many.connections - few.connections) / n,
	}, nil
}

// upkeepOf measures a process after it has been ready for a while.
func (b *bench) upkeepOf(ctx context.Context, n int, settle time.Duration, args func(int) ([]string, error)) (upkeep, error) {
	h, _, err := b.insideReady(ctx, n, args)
	if err != nil {
		return upkeep{}, err
	}
	defer func() { _ = h.stop() }()
	b.progress.now("%d at rest", n)
	if err := rest(ctx, settle); err != nil {
		return upkeep{}, err
	}
	memory, err := ask[struct{ Goroutines, HeapBytes, StackBytes float64 }](ctx, h, "memory")
	if err != nil {
		return upkeep{}, err
	}
	open, err := connections(h.pid(), b.brokers)
	u := upkeep{memory.Goroutines, memory.HeapBytes, memory.StackBytes, float64(open)}
	b.progress.done("%4d: %.0f goroutines, %.0f KiB heap, %.0f KiB stacks, %d connections", n, u.goroutines, u.heap/1024, u.stacks/1024, open)
	return u, err
}

// insideReady starts Sluice, or bare clients, in a process that tells of itself, and waits until all are ready.
func (b *bench) insideReady(ctx context.Context, n int, args func(int) ([]string, error)) (h *helper, seconds float64, err error) {
	words, err := args(n)
	if err != nil {
		return nil, 0, err
	}
	b.progress.now("starting %d", n)
	if h, err = b.help(ctx, "inside", words...); err != nil {
		return nil, 0, err
	}
	waiting, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	if seconds, err = ask[float64](waiting, h, "ready"); err != nil {
		_ = h.stop()
		return nil, 0, fmt.Errorf("%d are not ready after %v: %w\n%s", n, runTimeout, err, h.log)
	}
	return h, seconds, nil
}

func (b *bench) bareClients(n int) ([]string, error) {
	return []string{
		"-bare", fmt.Sprint(n), "-brokers", b.servers(), "-topic", "idle", "-group", fmt.Sprintf("bare-%d", n),
	}, nil
}

// idleMappings returns the arguments of a process with n mappings.
func (b *bench) idleMappings(name string, enabled bool) func(n int) ([]string, error) {
	return func(n int) ([]string, error) {
		var text strings.Builder
		fmt.Fprintf(&text, "server: {listen: '127.0.0.1:0'}\nclusters: {main: {bootstrapServers: [%s]}}\n"+
			"functions: {none: {url: 'http://127.0.0.1:9/'}}\nmappings:\n", b.servers())
		for i := range n {
			fmt.Fprintf(&text, "  - {name: %s-%d-of-%d, cluster: main, function: none, topics: [idle], enabled: %v}\n", name, i, n, enabled)
		}
		file, err := configFile(b.dir, fmt.Sprintf("%s-%d", name, n), text.String())
		return []string{"-f", file}, err
	}
}

// many starts n mappings: after how long all were ready, and how much of a core they use from then on, if that is to be
// watched.
func (b *bench) many(ctx context.Context, n int, watch time.Duration) (ready, use float64, err error) {
	h, ready, err := b.insideReady(ctx, n, b.idleMappings("many", true))
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = h.stop() }()
	b.progress.done("%4d mappings: all ready after %.1f s", n, ready)
	if watch == 0 {
		return ready, 0, nil
	}
	if err := rest(ctx, watch/2); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	was, err := ask[float64](ctx, h, "cpu")
	if err != nil {
		return 0, 0, err
	}
	b.progress.now("%d mappings at rest", n)
	if err := rest(ctx, watch); err != nil {
		return 0, 0, err
	}
	now, err := ask[float64](ctx, h, "cpu")
	use = (now - was) / time.Since(began).Seconds()
	b.progress.done("%4d mappings at rest: %.1f %% of a core", n, 100*use)
	return ready, use, err
}

// rest waits.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
