package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sluicehq/sluice/test/bench/report"
)

const (
	capPollers = 50
	capValue   = 10 << 10
	capBatch   = 50
	capSeconds = 30
	// capWarm is how long they may take to come to their rates.
	capWarm = 8 * time.Second
	// capRecords last for a minute at the higher cap: all mappings read the same topic.
	capRecords = 60 * 5_000_000 / capValue / partitions * partitions
)

// capRates are megabytes a second for each poller. All together at 5 MB/s may be more than broker, Sluice and function can
// carry on one machine; at 2 MB/s nothing but the caps decides.
var capRates = []int{5, 2}

// caps holds fifty pollers to their rates in one process, as fifty mappings with a poller each, so that each one's rate shows
// at the function. They read the same topic, each in its own group, so that the broker reads it from memory.
func (b *bench) caps(ctx context.Context) (report.Section, error) {
	s := report.Section{Setup: fmt.Sprintf("%d mappings with one poller each in one process, batches of %d × 10 KiB; keys and values that reached "+
		"the function in %v.", capPollers, capBatch, b.seconds(capSeconds))}
	t, err := b.fillTopic(ctx, "caps", partitions, capRecords, capValue)
	if err != nil {
		return s, err
	}
	defer b.drop(ctx, t.name)
	for _, rate := range capRates {
		figures, err := b.capped(ctx, t, rate)
		if err != nil {
			return s, err
		}
		s.Figures = append(s.Figures, figures...)
	}
	return s, nil
}

// capped holds them to one rate.
func (b *bench) capped(ctx context.Context, t *topic, megabytes int) ([]report.Figure, error) {
	f, err := b.help(ctx, "acting")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.stop() }()
	h, _, err := b.insideReady(ctx, capPollers, b.cappedMappings(t, f, megabytes))
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.stop() }()
	if err := rest(ctx, capWarm); err != nil {
		return nil, err
	}
	rates, cores, err := b.ratesOf(ctx, f, h, b.seconds(capSeconds), t)
	if err != nil {
		return nil, err
	}
	if len(rates) != capPollers {
		return nil, fmt.Errorf("%d mappings called the function, not %d", len(rates), capPollers)
	}
	off, all := 0.0, 0.0
	for _, rate := range rates {
		off, all = math.Max(off, math.Abs(rate/1e6/float64(megabytes)-1)), all+rate/1e6
	}
	b.progress.done("%d pollers of %d MB/s: %.1f MB/s, the furthest is off by %.1f %%, %.2f cores", capPollers, megabytes, all, 100*off, cores)
	c := fmt.Sprintf("%d pollers of %d MB/s", capPollers, megabytes)
	return []report.Figure{
		alone(c, "furthest from the cap", "%", report.Less, 100*off),
		alone(c, "together", "MB/s", report.More, all),
		alone(c, "Sluice's cores", "", report.Less, cores),
	}, nil
}

func (b *bench) cappedMappings(t *topic, f *helper, megabytes int) func(n int) ([]string, error) {
	return func(n int) ([]string, error) {
		var text strings.Builder
		fmt.Fprintf(&text, "server: {listen: '127.0.0.1:0'}\nclusters: {main: {bootstrapServers: [%s]}}\n"+
			"functions: {acting: {url: '%s'}}\nmappings:\n", b.servers(), f.url(""))
		for i := range n {
			fmt.Fprintf(&text, "  - {name: caps-%d-%d, cluster: main, function: acting, topics: [%s], batchSize: %d, "+
				"provisionedPollerConfig: {minimumPollers: 1, maximumPollers: 1}, pollerLimits: {throughput: %dMB/s}}\n", megabytes, i, t.name, capBatch, megabytes)
		}
		file, err := configFile(b.dir, fmt.Sprintf("caps-%d", megabytes), text.String())
		return []string{"-f", file}, err
	}
}

// ratesOf watches how many bytes of keys and values a second each mapping brings, and how many cores Sluice takes.
func (b *bench) ratesOf(ctx context.Context, f, h *helper, watch time.Duration, t *topic) (rates map[string]float64, cores float64, err error) {
	type bytes = map[string]int64
	cpu, err := ask[float64](ctx, h, "cpu")
	if err != nil {
		return nil, 0, err
	}
	before, err := ask[bytes](ctx, f, "mappings")
	if err != nil {
		return nil, 0, err
	}
	began := time.Now()
	b.progress.now("%d pollers at their caps", capPollers)
	if err := rest(ctx, watch); err != nil {
		return nil, 0, err
	}
	after, err := ask[bytes](ctx, f, "mappings")
	if err != nil {
		return nil, 0, err
	}
	took := time.Since(began).Seconds()
	now, err := ask[float64](ctx, h, "cpu")
	payload := float64(keyBytes+t.value) / (float64(t.events.first+t.events.last)/2 + float64(t.events.frame)/capBatch)
	rates = map[string]float64{}
	for name, n := range after {
		rates[name] = float64(n-before[name]) * payload / took
	}
	return rates, (now - cpu) / took, err
}
