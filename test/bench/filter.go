package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/test/bench/report"
	"github.com/sluicehq/sluice/test/bench/timeline"
)

// filterScenarios are those of package filter's own benchmark.
var filterScenarios = []string{"exact", "prefix-numeric", "wildcard-but", "prefix-only", "wildcard-but-plain"}

const (
	// filterRecords is how many records the mapping reads; of filterLines different ones it wants one.
	filterRecords = 1_000_000
	filterLines   = 100
	// filterTries are the short measurements of which the least counts: a match takes a microsecond, and what else the machine
	// does only makes it longer.
	filterTries = 10
)

// filters measures a match alone, and a mapping whose patterns let 1 % of its records through.
func (b *bench) filters(ctx context.Context) (report.Section, error) {
	s := report.Section{Setup: fmt.Sprintf("A match: the 256 events of 1 018 bytes and the five patterns of each scenario in filter/testdata/speed, as "+
		"`go test -bench Match ./filter` does it, the least of %d short runs. A mapping: %s records, each one of %d of these events, of which one matches; the bare client polls the "+
		"same topic and counts.", filterTries, thousands(filterRecords), filterLines)}
	mapping, err := b.filtering(ctx) // first: a broker that has just started disturbs for a while
	if err != nil {
		return s, err
	}
	matches, err := b.matches(ctx)
	s.Figures = append(matches, mapping...)
	return s, err
}

func (b *bench) matches(ctx context.Context) ([]report.Figure, error) {
	program := filepath.Join(b.dir, "filter.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./filter")
	build.Dir = b.root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	var figures []report.Figure
	for _, name := range filterScenarios {
		figures = append(figures, alone(name, "a match", "ns", report.Less), alone(name, "allocations", "", report.Less))
	}
	for n := range b.runs {
		b.progress.now("matches, %d/%d", n+1, b.runs)
		least := make([]float64, len(filterScenarios))
		for try := range filterTries {
			run := exec.CommandContext(ctx, program, "-test.run", "^$", "-test.bench", "^BenchmarkMatch$", "-test.cpu", "1", "-test.benchtime", "50ms")
			run.Dir = filepath.Join(b.root, "filter")
			out, err := run.CombinedOutput()
			if err != nil {
				return nil, fmt.Errorf("the benchmarks of filter: %w\n%s", err, tail(string(out), 20))
			}
			lines := readBenchmarks(out)
			for i, name := range filterScenarios {
				line := lines["BenchmarkMatch/"+name]
				if line == nil {
					return nil, fmt.Errorf("the benchmarks of filter have no %s:\n%s", name, tail(string(out), 20))
				}
				if ns := line["ns/op"]; try == 0 || ns < least[i] {
					least[i] = ns
				}
				if try == 0 {
					figures[2*i+1].Values = append(figures[2*i+1].Values, line["allocs/op"])
				}
			}
		}
		for i, ns := range least {
			figures[2*i].Values = append(figures[2*i].Values, ns)
		}
	}
	for i, name := range filterScenarios {
		b.progress.done("%-20s %.0f ns", name, figures[2*i].Value())
	}
	return figures, nil
}

const filterConfig = `server: {listen: "127.0.0.1:0"}
clusters: {main: {bootstrapServers: [%s]}}
functions: {noop: {url: "%s"}}
mappings:
  - name: filter
    cluster: main
    function: noop
    topics: [%s]
    consumerGroupId: %s
    batchSize: 100
    provisionedPollerConfig: {minimumPollers: 2, maximumPollers: 2}
    pollerLimits: {throughput: unlimited}
    filterCriteria: {filters: [{pattern: {value: {value: {id: [%s]}}}}]}
`

func (b *bench) filtering(ctx context.Context) ([]report.Figure, error) {
	text, err := os.ReadFile(filepath.Join(b.root, "filter", "testdata", "speed", "events.jsonl"))
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfterN(text, []byte("\n"), filterLines+1)[:filterLines]
	var wanted struct{ Value struct{ ID string } }
	if err := json.Unmarshal(lines[filterLines/2], &wanted); err != nil {
		return nil, err
	}
	file := filepath.Join(b.dir, "filter.jsonl")
	if err := os.WriteFile(file, bytes.Join(lines, nil), 0o644); err != nil {
		return nil, err
	}
	records := int64(filterRecords*b.scale) / (filterLines * partitions) * filterLines * partitions
	mean := len(bytes.Join(lines, nil)) / filterLines
	t, err := b.fillTopic(ctx, "filter", partitions, records, mean, "-lines", file)
	if err != nil {
		return nil, err
	}
	defer b.drop(ctx, t.name)
	c := "1 % of the records match"
	speed := report.Figure{Case: c, Name: "records/s", Better: report.More, Beside: "counting", By: report.Ratio}
	cpu := alone(c, "CPU-s per million", "", report.Less)
	for n := range b.runs {
		count, err := b.counting(ctx, t, n)
		if err != nil {
			return nil, err
		}
		perSecond, cost, err := b.filteringOnce(ctx, t, wanted.Value.ID, n)
		if err != nil {
			return nil, err
		}
		add(&speed, perSecond, count)
		cpu.Values = append(cpu.Values, cost.cpu.Seconds()/float64(records)*1e6)
		b.progress.done("%d/%d  %s records/s, counting %s", n+1, b.runs, report.Number(perSecond), report.Number(count))
	}
	return []report.Figure{speed, cpu}, nil
}

// counting is how many records a second a bare client reads.
func (b *bench) counting(ctx context.Context, t *topic, n int) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	b.progress.now("%d/%d, counting", n+1, b.runs)
	out, err := exec.CommandContext(ctx, b.program("minimal"), "-count", "-brokers", b.servers(), "-topic", t.name,
		"-group", fmt.Sprintf("counting-%d", n), "-records", strconv.FormatInt(t.records, 10)).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("counting: %w\n%s", err, tail(string(out), 20))
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// filteringOnce runs the mapping over the topic. Every hundredth record matches, so that its speed is that of all of them.
func (b *bench) filteringOnce(ctx context.Context, t *topic, id string, n int) (perSecond float64, c cost, err error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	f, err := b.help(ctx, "noop")
	if err != nil {
		return 0, c, err
	}
	defer func() { _ = f.stop() }()
	group := fmt.Sprintf("filter-%d", n)
	b.progress.now("%d/%d, filtering", n+1, b.runs)
	subject := subject{"Sluice", func(j job) (*command, error) {
		file, err := configFile(b.dir, group, fmt.Sprintf(filterConfig, b.servers(), f.url(""), t.name, group, strconv.Quote(id)))
		run := runCommand(file)
		run.args = append(run.args, "--until-lag-zero")
		return run, err
	}}
	if c, err = subject.run(ctx, job{dir: b.dir}); err != nil {
		return 0, c, err
	}
	if err := b.settled(ctx, t, group); err != nil {
		return 0, c, err
	}
	line, err := f.timeline(ctx)
	if err != nil {
		return 0, c, err
	}
	span, err := line.Span()
	if err != nil {
		return 0, c, err
	}
	return (timeline.To - timeline.From) * float64(t.records) / span.Seconds(), c, nil
}
