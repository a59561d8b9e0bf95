package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sluicehq/sluice/test/bench/report"
)

// startup measures from a process's start to its first call, and how large the program is.
func (b *bench) startup(ctx context.Context) (report.Section, error) {
	s := report.Section{Setup: "From the process's start until the function has read the first event (to 10 ms), in a new group; batches of 100 × 1 KiB."}
	t, err := b.fillTopic(ctx, "startup", partitions, 16_000, 1<<10)
	if err != nil {
		return s, err
	}
	defer b.drop(ctx, t.name)
	first := beside("start", "first call after", "s", report.Less, report.Difference)
	for n := -1; n < b.runs; n++ { // the first pair warms the broker
		var took [2]float64
		for i, one := range []subject{loop, sluice} {
			if took[i], err = b.startOnce(ctx, one, t, n); err != nil {
				return s, err
			}
		}
		b.progress.done("%d/%d  %.2f and %.2f s (loop, Sluice)", n+1, b.runs, took[0], took[1])
		if n >= 0 {
			add(&first, took[1], took[0])
		}
	}
	size, err := os.Stat(b.program("sluice"))
	if err != nil {
		return s, err
	}
	s.Figures = []report.Figure{first, alone("program", "size", "MB", report.Less, float64(size.Size())/1e6)}
	return s, nil
}

func (b *bench) startOnce(ctx context.Context, one subject, t *topic, n int) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	f, err := b.help(ctx, "noop")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.stop() }()
	before := f.age()
	if _, err := one.run(ctx, job{
		dir: b.dir, brokers: b.servers(), topic: t.name, group: fmt.Sprintf("startup-%s-%d", one.name, n), url: f.url(""),
		batch: 100, fit: 100, records: t.records,
	}); err != nil {
		return 0, err
	}
	line, err := f.timeline(ctx)
	if err != nil {
		return 0, err
	}
	return (line.First() - before).Seconds(), t.events.check(line.Total())
}
