package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sluicehq/sluice/test/bench/timeline"
	"github.com/sluicehq/sluice/test/kafkatest/broker"
)

// bench is what all cases share.
type bench struct {
	options
	dir      string // scratch: programs, configurations, logs, the broker's data
	cluster  *broker.Cluster
	brokers  []string
	kafka    string // version, as the broker tells it
	progress *progress
	topic    filled
}

// programs are what is built for a run, all in the same way.
var programs = []string{"./cmd/sluice", "./test/bench/minimal", "./test/bench/noop", "./test/bench/fill", "./test/bench/profiled"}

func openBench(ctx context.Context, o options) (*bench, error) {
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, dir: dir, progress: newProgress()}
	if err := b.open(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bench) open(ctx context.Context) (err error) {
	if b.profile != "" {
		if err := os.MkdirAll(b.profile, 0o755); err != nil {
			return err
		}
	}
	b.progress.now("building")
	if err := b.build(ctx); err != nil {
		return err
	}
	b.progress.now("starting Kafka")
	b.cluster, err = broker.Start(ctx, broker.Config{Dir: filepath.Join(b.dir, "kafka"), Progress: os.Stderr})
	if err != nil {
		return err
	}
	b.brokers = b.cluster.Addresses(broker.Plaintext)
	b.kafka, err = b.cluster.Version()
	b.progress.done("Kafka %s at %s", b.kafka, strings.Join(b.brokers, ","))
	return err
}

func (b *bench) close() error {
	var err error
	if b.cluster != nil {
		err = b.cluster.Close()
	}
	return errors.Join(err, os.RemoveAll(b.dir))
}

func (b *bench) build(ctx context.Context) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-o", b.dir + string(filepath.Separator)}, programs...)...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", errors.New("run it inside the module: go run ./test/bench")
	}
	return filepath.Dir(file), nil
}

func (b *bench) program(name string) string { return filepath.Join(b.dir, name) }

// measure runs all cases. On an error it returns the rows that were done as well.
func (b *bench) measure(ctx context.Context) ([]row, error) {
	var rows []row
	for i, c := range b.cases {
		if err := b.provide(ctx, c); err != nil {
			return rows, err
		}
		if i == 0 { // the broker's code is compiled by running it
			if _, err := b.runOnce(ctx, loop, c, "warm-up"); err != nil {
				return rows, err
			}
		}
		r := row{Case: c, Batch: b.topic.events.fit(c.batch)}
		for n := range b.runs {
			var p pair
			var err error
			label := fmt.Sprintf("%d/%d", n+1, b.runs)
			if p.Loop, err = b.runOnce(ctx, loop, c, label); err != nil {
				return rows, err
			}
			if p.Sluice, err = b.runOnce(ctx, sluice, c, label); err != nil {
				return rows, err
			}
			r.Pairs = append(r.Pairs, p)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// runOnce runs one subject over the whole topic.
func (b *bench) runOnce(ctx context.Context, s subject, c benchCase, label string) (result, error) {
	r, err := b.take(ctx, s, c, label)
	if err != nil {
		return result{}, fmt.Errorf("%v, %s, %s: %w", c, s.name, label, err)
	}
	b.progress.done("%-10v %-8s %-7s %9s records/s %7.0f MB/s %7.2f CPU-s/M %5.0f MB RSS  start %.2fs  %.1f records a call",
		c, label, s.name, thousands(r.RecordsPerSecond), r.megabytesPerSecond(), r.cpuPerMillion(), r.peakMegabytes(),
		r.Start.Seconds(), r.meanBatch())
	return r, nil
}

func (b *bench) take(ctx context.Context, s subject, c benchCase, label string) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	f, err := startFunction(ctx, b.program("noop"))
	if err != nil {
		return result{}, err
	}
	defer f.stop()
	j := b.job(c, f, s.name+"-"+strings.ReplaceAll(label, "/", "-"))
	watching, unwatch := context.WithCancel(ctx)
	go f.watch(watching, func(now timeline.Sample) {
		b.progress.now("%-10v %-8s %-7s %3d %%", c, label, s.name, 100*now.Bytes/(b.topic.records*b.topic.events.first))
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
	if err := errors.Join(b.settled(ctx, j.group), b.topic.events.check(line.Total())); err != nil {
		return result{}, err
	}
	span, err := line.Span()
	if err != nil {
		return result{}, err
	}
	return result{
		Records: b.topic.records, Payload: b.topic.records * int64(c.value+keyBytes), Span: span,
		Start: line.First() - before, CPU: cost.cpu, PeakRSS: cost.peakRSS, Requests: line.Total().Requests,
	}.withSpeed(timeline.To - timeline.From), nil
}
