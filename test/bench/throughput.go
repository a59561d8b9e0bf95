package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluicehq/sluice/test/bench/report"
	"github.com/sluicehq/sluice/test/bench/timeline"
)

// throughput lets loop and Sluice read the same topic by turns, each time from its start and in a new group. The backlog is
// there before they start, so that all batches are full; the batching window is Sluice's default. Stream mode has one
// call at once in a partition, so both have as many as the topic has partitions; Sluice has two slots to spare.
//
// Speed is what the function saw: 90 % of the records over the time between 5 % and 95 % of the bytes (package timeline).
// CPU and peak memory are the system's account of the process, from its start to its end. Broker and function are
// not in it, but share the machine: where they are the bottleneck, speed says less than CPU. After each run the group's
// commits must be at the ends of all partitions, and the function must have been sent the right number of bytes.
func (b *bench) throughput(ctx context.Context) (report.Section, error) {
	s := report.Section{Setup: fmt.Sprintf("%d partitions, no compression, no-op function.", partitions)}
	var t *topic
	for i, c := range b.cases {
		if records := c.scaled(b.scale); t == nil || t.value != c.value || t.records != records {
			if t != nil {
				b.drop(ctx, t.name)
			}
			var err error
			if t, err = b.fillTopic(ctx, fmt.Sprintf("bench-%s-%d", sizeName(c.value), records), partitions, records, c.value); err != nil {
				return s, err
			}
		}
		if i == 0 { // the broker's code is compiled by running it
			if _, err := b.runOnce(ctx, loop, t, c, "warm-up"); err != nil {
				return s, err
			}
		}
		figures, err := b.pairs(ctx, t, c)
		if err != nil {
			return s, err
		}
		s.Figures = append(s.Figures, figures...)
		if fit := t.events.fit(c.batch); fit < c.batch {
			s.Notes = append(s.Notes, fmt.Sprintf("Lambda's 6 MiB for an event, which is the default, hold %d records of %s.", fit, spaced(sizeName(c.value))))
		}
	}
	b.drop(ctx, t.name)
	return s, nil
}

// pairs runs loop and Sluice by turns.
func (b *bench) pairs(ctx context.Context, t *topic, c benchCase) ([]report.Figure, error) {
	speed, cpu, memory := beside(c.title(), "records/s", "", report.More, report.Ratio),
		beside(c.title(), "CPU-s per million", "", report.Less, report.Ratio),
		beside(c.title(), "peak RSS", "MB", report.Less, "") // it depends on how long a run is
	for n := range b.runs {
		label := fmt.Sprintf("%d/%d", n+1, b.runs)
		l, err := b.runOnce(ctx, loop, t, c, label)
		if err != nil {
			return nil, err
		}
		s, err := b.runOnce(ctx, sluice, t, c, label)
		if err != nil {
			return nil, err
		}
		add(&speed, s.recordsPerSecond, l.recordsPerSecond)
		add(&cpu, s.cpuPerMillion(), l.cpuPerMillion())
		add(&memory, s.peakMegabytes(), l.peakMegabytes())
	}
	return []report.Figure{speed, cpu, memory}, nil
}

// beside is a figure of Sluice beside the loop, without runs yet.
func beside(c, name, unit string, better report.Better, by report.By) report.Figure {
	return report.Figure{Case: c, Name: name, Unit: unit, Better: better, Beside: loop.name, By: by}
}

// alone is a figure that stands alone.
func alone(c, name, unit string, better report.Better, values ...float64) report.Figure {
	return report.Figure{Case: c, Name: name, Unit: unit, Better: better, Values: values}
}

// add adds a pair.
func add(f *report.Figure, value, other float64) {
	f.Values, f.Others = append(f.Values, value), append(f.Others, other)
}

// result is one run of one subject.
type result struct {
	records          int64
	recordsPerSecond float64
	start            time.Duration // from the process's start to the first body
	requests         int64
	cost
}

// cpuPerMillion is in seconds for a million records.
func (r result) cpuPerMillion() float64 { return r.cpu.Seconds() / float64(r.records) * 1e6 }

// peakMegabytes is the peak of the resident memory; MB is 10⁶ bytes.
func (r result) peakMegabytes() float64 { return float64(r.peakRSS) / 1e6 }

func (r result) meanBatch() float64 { return float64(r.records) / float64(max(r.requests, 1)) }

// runOnce runs one subject over the whole topic.
func (b *bench) runOnce(ctx context.Context, s subject, t *topic, c benchCase, label string) (result, error) {
	r, err := b.take(ctx, s, t, c, label)
	if err != nil {
		return result{}, fmt.Errorf("%v, %s, %s: %w", c, s.name, label, err)
	}
	b.progress.done("%-10v %-8s %-7s %9s records/s %7.2f CPU-s/M %5.0f MB RSS  start %.2fs  %.1f records a call",
		c, label, s.name, report.Number(r.recordsPerSecond), r.cpuPerMillion(), r.peakMegabytes(), r.start.Seconds(), r.meanBatch())
	return r, nil
}

func (b *bench) take(ctx context.Context, s subject, t *topic, c benchCase, label string) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	f, err := b.help(ctx, "noop")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = f.stop() }()
	j := b.job(t, c, f, s.name+"-"+strings.ReplaceAll(label, "/", "-"))
	watching, unwatch := context.WithCancel(ctx)
	go f.watch(watching, func(now timeline.Sample) {
		b.progress.now("%-10v %-8s %-7s %3d %%", c, label, s.name, 100*now.Bytes/(t.records*t.events.first))
	})
	before := f.age()
	cost, err := s.run(ctx, j)
	unwatch()
	if err != nil {
		return result{}, err
	}
	line, err := f.timeline(ctx)
	if err != nil {
		return result{}, err
	}
	if err := errors.Join(b.settled(ctx, t, j.group), t.events.check(line.Total())); err != nil {
		return result{}, err
	}
	span, err := line.Span()
	if err != nil {
		return result{}, err
	}
	return result{
		records: t.records, recordsPerSecond: (timeline.To - timeline.From) * float64(t.records) / span.Seconds(),
		start: line.First() - before, requests: line.Total().Requests, cost: cost,
	}, nil
}

func (b *bench) job(t *topic, c benchCase, f *helper, run string) job {
	j := job{
		dir: b.dir, brokers: b.servers(), topic: t.name, url: f.url(""), records: t.records,
		group: fmt.Sprintf("%v-%s", c, run), batch: c.batch, fit: t.events.fit(c.batch),
	}
	if b.profile != "" {
		j.profile = filepath.Join(b.profile, j.group+".pprof")
	}
	return j
}
