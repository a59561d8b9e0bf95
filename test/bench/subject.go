package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runTimeout bounds one run; it takes seconds.
const runTimeout = 3 * time.Minute

// subject is a program that is measured: it reads the whole topic, sends it to the function, commits, and ends.
type subject struct {
	name    string
	command func(job) (*command, error)
}

// command is a program of the bench with its arguments.
type command struct {
	program string
	args    []string
}

// The subjects.
var (
	loop   = subject{"loop", loopCommand}
	sluice = subject{"Sluice", sluiceCommand}
)

// job is one run of a subject.
type job struct {
	dir     string // of the programs; the run's own files go there, too
	brokers []string
	topic   string
	group   string // new for each run
	url     string
	batch   int // as configured; fit is how many of them an event can hold
	fit     int
	records int64
	profile string // file for a CPU profile; empty for none
}

func (b *bench) job(c benchCase, f *function, run string) job {
	j := job{
		dir: b.dir, brokers: b.brokers, topic: b.topic.name, url: f.url(), records: b.topic.records,
		group: fmt.Sprintf("%v-%s", c, run), batch: c.batch, fit: b.topic.events.fit(c.batch),
	}
	if b.profile != "" {
		j.profile = filepath.Join(b.profile, j.group+".pprof")
	}
	return j
}

func loopCommand(j job) (*command, error) {
	c := &command{"minimal", []string{
		"-brokers", strings.Join(j.brokers, ","), "-topic", j.topic, "-group", j.group, "-url", j.url,
		"-batch", strconv.Itoa(j.fit), "-records", strconv.FormatInt(j.records, 10),
	}}
	if j.profile != "" {
		c.args = append(c.args, "-cpuprofile", j.profile)
	}
	return c, nil
}

// sluiceConfig has two pollers of five slots, without a byte cap: two more than there are partitions.
const sluiceConfig = `server: {listen: "127.0.0.1:0"}
clusters:
  main: {bootstrapServers: [%s]}
functions:
  noop: {url: "%s"}
mappings:
  - name: bench
    cluster: main
    function: noop
    topics: [%s]
    consumerGroupId: %s
    startingPosition: TRIM_HORIZON
    batchSize: %d
    provisionedPollerConfig: {minimumPollers: 2, maximumPollers: 2}
    pollerLimits: {throughput: unlimited}
`

func sluiceCommand(j job) (*command, error) {
	file := filepath.Join(j.dir, j.group+".yaml")
	text := fmt.Sprintf(sluiceConfig, strings.Join(j.brokers, ","), j.url, j.topic, j.group, j.batch)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return nil, err
	}
	if j.profile != "" {
		return &command{"profiled", []string{"-f", file, "-cpuprofile", j.profile}}, nil
	}
	return &command{"sluice", []string{"run", "-f", file, "--until-lag-zero", "--log-level", "warn"}}, nil
}

// cost is the system's account of a process.
type cost struct {
	cpu     time.Duration // user and system
	peakRSS int64         // bytes
}

// run runs the subject to its end. What it logs is part of the error if it fails.
func (s subject) run(ctx context.Context, j job) (cost, error) {
	c, err := s.command(j)
	if err != nil {
		return cost{}, err
	}
	var log bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(j.dir, c.program), c.args...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", c.program, err, tail(log.String(), 20))
	}
	state := cmd.ProcessState
	return cost{cpu: state.UserTime() + state.SystemTime(), peakRSS: maxRSS(state.SysUsage())}, nil
}

// maxRSS is in KiB everywhere but on macOS.
func maxRSS(usage any) int64 {
	r, ok := usage.(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return r.Maxrss
	}
	return r.Maxrss << 10
}

func tail(text string, lines int) string {
	all := strings.SplitAfter(text, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}
