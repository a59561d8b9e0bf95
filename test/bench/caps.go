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
	capBytes   = 5_000_000 // a second, each
	capValue   = 10 << 10
	capBatch   = 50
	capSeconds = 30
	// capWarm is how long they may take to come to their rates.
	capWarm = 8 * time.Second
	// capRecords last for a minute at the cap: all mappings read the same topic.
	capRecords = 60 * capBytes / capValue / partitions * partitions
)

// caps holds fifty pollers to 5 MB/s each in one process, as fifty mappings with a poller each, so that each one's rate shows
// at the function. They read the same topic, each in its own group, so that the broker reads it from memory.
func (b *bench) caps(ctx context.Context) (report.Section, error) {
	watch := b.seconds(capSeconds)
	s := report.Section{Setup: fmt.Sprintf("%d mappings with one poller of 5 MB/s each in one process, batches of %d × 10 KiB; keys and values that reached the function in %v.",
		capPollers, capBatch, watch)}
	t, err := b.fillTopic(ctx, "caps", partitions, capRecords, capValue)
	if err != nil {
		return s, err
	}
	defer b.drop(ctx, t.name)
	f, err := b.help(ctx, "acting")
	if err != nil {
		return s, err
	}
	defer func() { _ = f.stop() }()
	h, _, err := b.insideReady(ctx, capPollers, b.cappedMappings(t, f))
	if err != nil {
		return s, err
	}
	defer func() { _ = h.stop() }()
	if err := rest(ctx, capWarm); err != nil {
		return s, err
	}
	rates, cores, err := b.ratesOf(ctx, f, h, watch, t)
	if err != nil {
		return s, err
	}
	if len(rates) != capPollers {
		return s, fmt.Errorf("%d mappings called the function, not %d", len(rates), capPollers)
	}
	off, all := 0.0, 0.0
	for _, rate := range rates {
		off, all = math.Max(off, math.Abs(rate/capBytes-1)), all+rate
	}
	b.progress.done("%d pollers: %.1f MB/s, the furthest is off by %.1f %%, %.2f cores", capPollers, all/1e6, 100*off, cores)
	c := fmt.Sprintf("%d pollers of 5 MB/s", capPollers)
	s.Figures = []report.Figure{
		alone(c, "furthest from the cap", "%", report.Less, 100*off),
		alone(c, "together", "MB/s", report.More, all/1e6),
		alone(c, "Sluice's cores", "", report.Less, cores),
	}
	return s, nil
}

func (b *bench) cappedMappings(t *topic, f *helper) func(n int) ([]string, error) {
	return func(n int) ([]string, error) {
		var text strings.Builder
		fmt.Fprintf(&text, "server: {listen: '127.0.0.1:0'}\nclusters: {main: {bootstrapServers: [%s]}}\n"+
			"functions: {acting: {url: '%s'}}\nmappings:\n", b.servers(), f.url(""))
		for i := range n {
			fmt.Fprintf(&text, "  - {name: caps-%d, cluster: main, function: acting, topics: [%s], batchSize: %d, "+
				"provisionedPollerConfig: {minimumPollers: 1, maximumPollers: 1}, pollerLimits: {throughput: %dB/s}}\n", i, t.name, capBatch, capBytes)
		}
		file, err := configFile(b.dir, "caps", text.String())
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
