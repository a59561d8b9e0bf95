package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicehq/sluice/test/bench/report"
)

const (
	poisonRate  = 1000
	poisonSetup = "two mappings with 8 partitions each, batches of up to 10, window 0; in the one a record of the first partition always fails and is " +
		"tried again within 100 ms; 1 000 records/s by turns to the other seven partitions of each"
)

const poisonConfig = `server: {listen: "127.0.0.1:0"}
clusters: {main: {bootstrapServers: [%[1]s]}}
functions: {with: {url: "%[2]s"}, without: {url: "%[2]s"}}
defaults:
  cluster: main
  batchSize: 10
  maximumBatchingWindowInSeconds: 0
  maximumRetryAttempts: -1
  retry: {initialBackoff: 100ms, maximumBackoff: 100ms}
  provisionedPollerConfig: {minimumPollers: 2, maximumPollers: 2}
  pollerLimits: {throughput: unlimited}
mappings:
  - {name: poison-with, function: with, topics: [poison-with]}
  - {name: poison-without, function: without, topics: [poison-without]}
`

// poison measures the latency of healthy partitions while a record of another one fails again and again.
func (b *bench) poison(ctx context.Context) ([]report.Figure, error) {
	p, err := b.help(ctx, "pulse", "-brokers", b.servers())
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.stop() }()
	topics := []string{"poison-without", "poison-with"}
	for _, name := range topics {
		if err := b.newTopic(ctx, name, partitions); err != nil {
			return nil, err
		}
	}
	defer b.drop(ctx, topics...)
	file, err := configFile(b.dir, "poison", fmt.Sprintf(poisonConfig, b.servers(), p.url("f")))
	if err != nil {
		return nil, err
	}
	running, err := b.startSubject(ctx, runCommand(file))
	if err != nil {
		return nil, err
	}
	defer func() { _ = running.stop() }()
	for _, path := range []string{"ready?topic=" + topics[0], "ready?topic=" + topics[1], "poison?topic=" + topics[1]} {
		if _, err := ask[bool](ctx, p, path); err != nil {
			return nil, errors.Join(err, fmt.Errorf("what Sluice says:\n%s", running.log))
		}
	}
	c := "a poison record elsewhere"
	p50 := report.Figure{Case: c, Name: "p50 of healthy partitions", Unit: "ms", Better: report.Less, Beside: "without", By: report.Difference}
	p99 := p50
	p99.Name = "p99 of healthy partitions"
	for n := range b.runs {
		var got [2]stretch
		for i, name := range topics {
			b.progress.now("poison, %d/%d, %s", n+1, b.runs, name)
			if got[i], err = b.stretch(ctx, p, name, poisonRate, b.seconds(5)); err != nil {
				return nil, err
			}
		}
		without, with := got[0], got[1]
		b.progress.done("poison %d/%d  p50 %.2f and %.2f ms, p99 %.2f and %.2f ms (without, with %d deliveries of it)",
			n+1, b.runs, without.P50, with.P50, without.P99, with.P99, with.PoisonedDeliveries)
		add(&p50, with.P50, without.P50)
		add(&p99, with.P99, without.P99)
	}
	return []report.Figure{p50, p99}, nil
}
