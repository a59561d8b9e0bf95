package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/test/bench/report"
)

// rate is a row of the table of latency.
type rate struct {
	perSecond int
	seconds   float64 // of a stretch: a hundred records at least
}

var rates = []rate{{10, 10}, {100, 5}, {1000, 4}, {2000, 4}}

// stretch is what pulse tells; times are in milliseconds.
type stretch struct {
	Records, PoisonedDeliveries      int
	P50, P99, Most, RecordsPerSecond float64
}

// latency has loop and Sluice run all the time, each with a topic of its own, and produces to them by turns: from the
// moment that a record is created to the one when the body that holds it has been read, on the clock of one process
// (package pulse). Batches of one record, no batching window.
func (b *bench) latency(ctx context.Context) (report.Section, error) {
	s := report.Section{Setup: fmt.Sprintf("%d partitions, 1 KiB, batches of 1, batching window 0; milliseconds from a record's creation "+
		"in the producer (no linger, acks=all) to its arrival at the function.", partitions)}
	p, err := b.help(ctx, "pulse", "-brokers", b.servers())
	if err != nil {
		return s, err
	}
	defer func() { _ = p.stop() }()
	subjects := []subject{loop, sluice}
	for _, one := range subjects {
		stop, err := b.follow(ctx, one, p)
		if err != nil {
			return s, err
		}
		defer stop()
	}
	for _, r := range rates {
		figures, err := b.latencyAt(ctx, p, r)
		if err != nil {
			return s, err
		}
		s.Figures = append(s.Figures, figures...)
	}
	return s, nil
}

// follow starts a subject on a topic with its name, and waits until it reads all of it.
func (b *bench) follow(ctx context.Context, one subject, p *helper) (stop func(), err error) {
	name := "latency-" + one.name
	if err := b.newTopic(ctx, name, partitions); err != nil {
		return nil, err
	}
	c, err := one.command(job{
		dir: b.dir, brokers: b.servers(), topic: name, group: name, url: p.url("f"), batch: 1, fit: 1, window: "0",
	})
	if err != nil {
		return nil, err
	}
	running, err := b.startSubject(ctx, c)
	if err != nil {
		return nil, err
	}
	stop = func() { _ = running.stop(); b.drop(ctx, name) }
	if _, err := ask[bool](ctx, p, "ready?topic="+name); err != nil {
		stop()
		return nil, errors.Join(err, fmt.Errorf("%s says:\n%s", one.name, running.log))
	}
	return stop, nil
}

func (b *bench) latencyAt(ctx context.Context, p *helper, r rate) ([]report.Figure, error) {
	title := thousands(int64(r.perSecond)) + " records/s"
	p50, p99 := beside(title, "p50", "ms", report.Less, report.Difference), beside(title, "p99", "ms", report.Less, report.Difference)
	took := b.seconds(r.seconds)
	for n := range b.runs {
		var got [2]stretch
		for i, one := range []subject{loop, sluice} {
			var err error
			b.progress.now("%s, %d/%d, %s", title, n+1, b.runs, one.name)
			if got[i], err = b.stretch(ctx, p, "latency-"+one.name, r.perSecond, took); err != nil {
				return nil, err
			}
		}
		l, s := got[0], got[1]
		b.progress.done("%-15s %d/%d  p50 %.2f and %.2f ms, p99 %.2f and %.2f ms, most %.1f and %.1f ms (loop, Sluice)",
			title, n+1, b.runs, l.P50, s.P50, l.P99, s.P99, l.Most, s.Most)
		add(&p50, s.P50, l.P50)
		add(&p99, s.P99, l.P99)
	}
	return []report.Figure{p50, p99}, nil
}

// stretch produces to a topic for a time. A producer that fell behind measured something else.
func (b *bench) stretch(ctx context.Context, p *helper, topic string, perSecond int, d time.Duration) (stretch, error) {
	s, err := ask[stretch](ctx, p, fmt.Sprintf("run?topic=%s&rate=%d&for=%s", topic, perSecond, d))
	if err == nil && s.RecordsPerSecond < 0.95*float64(perSecond) {
		err = fmt.Errorf("topic %s: produced %.0f records/s instead of %d: the machine is too busy", topic, s.RecordsPerSecond, perSecond)
	}
	return s, err
}
