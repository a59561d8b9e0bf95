package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/test/bench/report"
)

const (
	backlogRecords = 1_000_000
	backlogDelay   = "5s"
	// backlogLimit is the memory that Sluice is given, in bytes.
	backlogLimit = 256 << 20
	// backlogWarm is how long the buffers may take to fill.
	backlogWarm = 10 * time.Second
)

const backlogConfig = `server: {listen: "127.0.0.1:0", memoryLimit: %d}
clusters: {main: {bootstrapServers: [%s]}}
functions: {slow: {url: "%s", timeout: 1m}}
mappings:
  - name: backlog
    cluster: main
    function: slow
    topics: [%s]
    batchSize: 100
    provisionedPollerConfig: {minimumPollers: 2, maximumPollers: 2}
    pollerLimits: {throughput: unlimited}
`

// behind watches the memory before a function that is much slower than Kafka.
func (b *bench) behind(ctx context.Context) (report.Section, error) {
	records := int64(b.count(backlogRecords)) / partitions * partitions
	s := report.Section{Setup: fmt.Sprintf("%s records of 1 KiB in %d partitions, batches of 100, 2 pollers, %s a call, server.memoryLimit 256 MiB; resident memory each second for %v "+
		"once the buffers are full.", thousands(records), partitions, backlogDelay, b.backlogFor)}
	t, err := b.fillTopic(ctx, "backlog", partitions, records, 1<<10)
	if err != nil {
		return s, err
	}
	defer b.drop(ctx, t.name)
	f, err := b.help(ctx, "acting", "-delay", backlogDelay)
	if err != nil {
		return s, err
	}
	defer func() { _ = f.stop() }()
	file, err := configFile(b.dir, "backlog", fmt.Sprintf(backlogConfig, backlogLimit, b.servers(), f.url(""), t.name))
	if err != nil {
		return s, err
	}
	running, err := b.startSubject(ctx, runCommand(file))
	if err != nil {
		return s, err
	}
	defer func() { _ = running.stop() }()
	if err := rest(ctx, backlogWarm); err != nil {
		return s, err
	}
	sizes, err := b.watchRSS(ctx, running.pid())
	if err != nil {
		return s, fmt.Errorf("%w; Sluice says:\n%s", err, running.log)
	}
	total, err := f.timeline(ctx)
	if err == nil && total.Total().Requests == 0 {
		err = fmt.Errorf("the function was not called; Sluice says:\n%s", running.log)
	}
	quarter := max(len(sizes)/4, 1)
	// The heap is collected when it has doubled, which takes minutes at so few calls: until then it fills what it may.
	begin, end := report.Median(sizes[min(quarter, len(sizes)-quarter):][:quarter]), report.Median(sizes[len(sizes)-quarter:])
	most := 0.0
	for _, size := range sizes {
		most = max(most, size)
	}
	b.progress.done("%s records behind: RSS %.0f MB at most, %.0f MB in the second quarter, %.0f MB in the last", thousands(records), most/1e6, begin/1e6, end/1e6)
	c1 := thousands(records) + " × 1 KiB behind"
	s.Figures = []report.Figure{
		alone(c1, "most of RSS", "MB", report.Less, most/1e6),
		alone(c1, "most of RSS, share of the limit", "", report.Less, most/backlogLimit),
		alone(c1, "RSS, last quarter ÷ second", "", report.Less, end/begin),
	}
	return s, err
}

// watchRSS samples a process's resident memory, in bytes.
func (b *bench) watchRSS(ctx context.Context, pid int) ([]float64, error) {
	var sizes []float64
	end := time.Now().Add(b.backlogFor)
	for time.Now().Before(end) {
		size, err := rss(pid)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, size)
		b.progress.now("RSS %.0f MB, %v to go", size/1e6, time.Until(end).Round(time.Second))
		if err := rest(ctx, time.Second); err != nil {
			return nil, err
		}
	}
	return sizes, nil
}

// rss is a process's resident memory in bytes, as Linux tells it.
func rss(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/%d/statm: %q", pid, text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return float64(pages) * float64(os.Getpagesize()), err
}
