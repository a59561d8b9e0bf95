package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/test/bench/report"
)

const (
	// stateRecords fit into a mapping's buffer, so that all are in flight: fetched and not settled.
	stateRecords = 32_000
	stateValue   = 100
)

const stateConfig = `server: {listen: "127.0.0.1:0"}
clusters: {main: {bootstrapServers: [%s]}}
functions: {hanging: {url: "%s", timeout: 15m}}
mappings:
  - name: state
    cluster: main
    function: hanging
    topics: [%s]
    consumerGroupId: %s
    provisionedPollerConfig: {minimumPollers: 2, maximumPollers: 2}
    pollerLimits: {throughput: unlimited}
`

// state measures what Sluice holds of a record in flight: the live heap with all records of a topic in flight less that
// with none, beside a bare client that keeps the records of the same topic.
func (b *bench) state(ctx context.Context) (report.Section, error) {
	s := report.Section{Setup: fmt.Sprintf("Live heap with %s records of %d bytes fetched and not settled, less the same with none, for each record: a bare client's is the "+
		"client's record and its payload. The function hangs with 100 records of each of %d partitions; their events are in it.",
		thousands(stateRecords), keyBytes+stateValue, partitions)}
	t, err := b.fillTopic(ctx, "state", partitions, stateRecords, stateValue)
	if err != nil {
		return s, err
	}
	empty := "state-empty"
	if err := b.newTopic(ctx, empty, partitions); err != nil {
		return s, err
	}
	defer b.drop(ctx, t.name, empty)
	f, err := b.help(ctx, "acting", "-delay", "1h")
	if err != nil {
		return s, err
	}
	defer func() { _ = f.stop() }()
	figure := report.Figure{Case: "a record in flight", Name: "heap", Unit: "bytes", Better: report.Less, Beside: "bare client", By: report.Difference}
	for n := range b.runs {
		bare, err := b.perRecord(ctx, t, empty, func(topic string) ([]string, error) {
			return []string{"-bare", "1", "-brokers", b.servers(), "-topic", topic, "-group", fmt.Sprintf("bare-%s-%d", topic, n)}, nil
		})
		if err != nil {
			return s, err
		}
		own, err := b.perRecord(ctx, t, empty, func(topic string) ([]string, error) {
			group := fmt.Sprintf("%s-%d", topic, n)
			file, err := configFile(b.dir, group, fmt.Sprintf(stateConfig, b.servers(), f.url(""), topic, group))
			return []string{"-f", file}, err
		})
		if err != nil {
			return s, err
		}
		b.progress.done("%d/%d  %.0f bytes a record, %.0f of a bare client's", n+1, b.runs, own, bare)
		add(&figure, own, bare)
	}
	s.Figures = []report.Figure{figure}
	return s, nil
}

// perRecord is what the heap grows by for each record of a topic.
func (b *bench) perRecord(ctx context.Context, t *topic, empty string, args func(topic string) ([]string, error)) (float64, error) {
	with, err := b.heapWith(ctx, t.name, t.records, args)
	if err != nil {
		return 0, err
	}
	without, err := b.heapWith(ctx, empty, 0, args)
	return (with - without) / float64(t.records), err
}

// heapWith is the live heap of a process that holds a topic's records.
func (b *bench) heapWith(ctx context.Context, topic string, records int64, args func(topic string) ([]string, error)) (float64, error) {
	h, _, err := b.insideReady(ctx, 1, func(int) ([]string, error) { return args(topic) })
	if err != nil {
		return 0, err
	}
	defer func() { _ = h.kill() }() // its calls hang
	end := time.Now().Add(time.Minute)
	for held := int64(-1); held != records; {
		if time.Now().After(end) {
			return 0, fmt.Errorf("%s: %d records are held, not %d", topic, held, records)
		}
		if err := rest(ctx, 300*time.Millisecond); err != nil {
			return 0, err
		}
		if held, err = ask[int64](ctx, h, "held"); err != nil {
			return 0, err
		}
	}
	if err := rest(ctx, 2*time.Second); err != nil { // fetches that are under way come back empty
		return 0, err
	}
	memory, err := ask[struct{ HeapBytes float64 }](ctx, h, "memory")
	return memory.HeapBytes, err
}
