package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sluicehq/sluice/test/kafkatest/broker"
)

// bench is what all benchmarks share.
type bench struct {
	options
	root     string // of the module
	dir      string // scratch: programs, configurations, logs, the broker's data
	cluster  *broker.Cluster
	brokers  []string
	machine  string
	load     string // of the machine, before we came
	commit   string
	progress *progress
}

// programs are what is built for a run, all in the same way.
var programs = []string{
	"./cmd/sluice", "./test/bench/minimal", "./test/bench/noop", "./test/bench/fill", "./test/bench/inside",
	"./test/bench/pulse", "./test/bench/acting",
}

func openBench(ctx context.Context, o options) (*bench, error) {
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, dir: dir, progress: newProgress(), load: loadAverage()}
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
	if b.root, err = moduleRoot(ctx); err != nil {
		return err
	}
	b.commit = commit(ctx, b.root)
	b.progress.now("building")
	if err := b.build(ctx); err != nil {
		return err
	}
	b.progress.now("starting Kafka")
	b.cluster, err = broker.Start(ctx, broker.Config{
		Dir: filepath.Join(b.dir, "kafka"), Progress: os.Stderr, Properties: kafkasOwn,
	})
	if err != nil {
		return err
	}
	b.brokers = b.cluster.Addresses(broker.Plaintext)
	kafka, err := b.cluster.Version()
	if err != nil {
		return err
	}
	b.machine = machine(kafka)
	b.progress.done("Kafka %s at %s", kafka, b.servers())
	return nil
}

func (b *bench) close() error {
	var err error
	if b.cluster != nil {
		err = b.cluster.Close()
	}
	return errors.Join(err, os.RemoveAll(b.dir))
}

func (b *bench) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{
		"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", b.dir + string(filepath.Separator),
	}, programs...)...)
	cmd.Dir, cmd.Env = b.root, append(os.Environ(), "CGO_ENABLED=0")
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

// servers are the bootstrap servers as flags and YAML take them.
func (b *bench) servers() string { return strings.Join(b.brokers, ",") }

// kafkasOwn are defaults of Kafka's that brokers for tests do not have: members of idle groups would be heard ten times as
// often.
var kafkasOwn = map[string]string{
	"group.consumer.heartbeat.interval.ms": "5000",
	"group.consumer.session.timeout.ms":    "45000",
}
