package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"

	"github.com/sluicehq/sluice/test/bench/report"
	"github.com/sluicehq/sluice/test/bench/timeline"
)

// What the function of the benchmark does.
const (
	failShare = 0.05
	failDelay = "20ms"
	// failPartitions are many beside the ten slots, as retries hold a partition back: where there are as few partitions as
	// slots, the pauses before retries alone decide, in any order-keeping reader.
	failPartitions = 64
	failRecords    = failPartitions * 100 * 48
)

// failing measures what failures cost beyond what they must: a share of the calls fails, and one record always does.
func (b *bench) failing(ctx context.Context) (report.Section, error) {
	s := report.Section{Setup: fmt.Sprintf("%.0f %% of the calls fail, a third each with 500, 429 and a batch item failure: %d partitions, "+
		"batches of 100 × 1 KiB, 10 slots, %s a call, retry pauses as by default. What is possible is the goodput without failures × the share of "+
		"the calls that carry something through. The poison: %s.", 100*failShare, failPartitions, failDelay, poisonSetup)}
	goodput, err := b.goodput(ctx)
	if err != nil {
		return s, err
	}
	poison, err := b.poison(ctx)
	s.Figures = append(goodput, poison...)
	return s, err
}

func (b *bench) goodput(ctx context.Context) ([]report.Figure, error) {
	records := int64(max(float64(failRecords)*b.scale/(failPartitions*100), 1)) * failPartitions * 100
	t, err := b.fillTopic(ctx, "failing", failPartitions, records, 1<<10)
	if err != nil {
		return nil, err
	}
	defer b.drop(ctx, t.name)
	c := fmt.Sprintf("%.0f %% of the calls fail", 100*failShare)
	speed := report.Figure{Case: c, Name: "goodput, records/s", Better: report.More, Beside: "without", By: report.Ratio}
	possible := alone(c, "share of what is possible", "", report.More)
	for n := range b.runs {
		without, err := b.goodputOnce(ctx, t, 0, n)
		if err != nil {
			return nil, err
		}
		with, err := b.goodputOnce(ctx, t, failShare, n)
		if err != nil {
			return nil, err
		}
		add(&speed, with.perSecond, without.perSecond)
		share := with.perSecond / (without.perSecond * with.allowed)
		possible.Values = append(possible.Values, share)
		b.progress.done("%d/%d  %s records/s without failures, %s with %.1f %% of %d calls failed: %.2f of what is possible",
			n+1, b.runs, report.Number(without.perSecond), report.Number(with.perSecond), 100*with.failed, with.calls, share)
	}
	return []report.Figure{speed, possible}, nil
}

// good is one run with failures or without.
type good struct {
	perSecond float64 // records that were taken
	failed    float64 // share of the calls
	allowed   float64 // share of the calls that were taken, partly or whole
	calls     int64
}

const failingConfig = `server: {listen: "127.0.0.1:0"}
clusters: {main: {bootstrapServers: [%s]}}
functions: {acting: {url: "%s"}}
mappings:
  - name: failing
    cluster: main
    function: acting
    topics: [%s]
    consumerGroupId: %s
    batchSize: 100
    functionResponseTypes: [ReportBatchItemFailures]
    maximumRetryAttempts: -1
    provisionedPollerConfig: {minimumPollers: 2, maximumPollers: 2}
    pollerLimits: {throughput: unlimited}
`

func (b *bench) goodputOnce(ctx context.Context, t *topic, share float64, n int) (good, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	f, err := b.help(ctx, "acting", "-delay", failDelay, "-fail", strconv.FormatFloat(share, 'f', -1, 64))
	if err != nil {
		return good{}, err
	}
	defer func() { _ = f.stop() }()
	group := fmt.Sprintf("failing-%g-%d", share, n)
	file, err := configFile(b.dir, group, fmt.Sprintf(failingConfig, b.servers(), f.url(""), t.name, group))
	if err != nil {
		return good{}, err
	}
	watching, unwatch := context.WithCancel(ctx)
	go f.watch(watching, func(now timeline.Sample) {
		b.progress.now("%d/%d, %.0f %% of the calls fail: %d %%", n+1, b.runs, 100*share, 100*now.Bytes/(t.records*t.events.first))
	})
	c := runCommand(file)
	out, err := exec.CommandContext(ctx, b.program(c.program), append(c.args, "--until-lag-zero", "--log-level", "error")...).CombinedOutput()
	unwatch()
	if err != nil {
		return good{}, fmt.Errorf("%s: %w\n%s", group, err, tail(string(out), 20))
	}
	line, err := f.timeline(ctx)
	if err != nil {
		return good{}, err
	}
	counts, err := ask[struct{ Taken, Failed, Throttled, Partial int64 }](ctx, f, "counts")
	if err != nil {
		return good{}, err
	}
	span, err := line.Span()
	if err := errors.Join(err, b.settled(ctx, t, group)); err != nil {
		return good{}, err
	}
	calls := counts.Taken + counts.Failed + counts.Throttled + counts.Partial
	return good{
		perSecond: (timeline.To - timeline.From) * float64(t.records) / span.Seconds(), calls: calls,
		failed:  float64(calls-counts.Taken) / float64(calls),
		allowed: 1 - float64(counts.Failed+counts.Throttled)/float64(calls),
	}, nil
}
