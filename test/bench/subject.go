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
	"syscall"
	"time"
)

// runTimeout bounds one run; it takes seconds.
const runTimeout = 3 * time.Minute

// subject is a program that is measured.
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
	brokers string
	topic   string
	group   string // new for each run
	url     string
	batch   int
	fit     int    // how many of the batch an event can hold
	window  string // batching window, in seconds; empty for the default
	records int64  // after which it ends; 0: it runs until it is stopped
	profile string // file for a CPU profile; empty for none
}

func loopCommand(j job) (*command, error) {
	c := &command{program: "minimal", args: []string{
		"-brokers", j.brokers, "-topic", j.topic, "-group", j.group, "-url", j.url,
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
	text := fmt.Sprintf(sluiceConfig, j.brokers, j.url, j.topic, j.group, j.batch)
	if j.window != "" {
		text += "    maximumBatchingWindowInSeconds: " + j.window + "\n"
	}
	file, err := configFile(j.dir, j.group, text)
	switch {
	case err != nil:
		return nil, err
	case j.profile != "":
		return &command{program: "inside", args: []string{"-f", file, "-until-lag-zero", "-cpuprofile", j.profile}}, nil
	case j.records == 0:
		return runCommand(file), nil
	}
	c := runCommand(file)
	c.args = append(c.args, "--until-lag-zero")
	return c, nil
}

// configFile writes a configuration under a name that is used once.
func configFile(dir, name, text string) (string, error) {
	file := filepath.Join(dir, name+".yaml")
	return file, os.WriteFile(file, []byte(text), 0o644)
}

// runCommand is «sluice run» with a configuration.
func runCommand(file string) *command {
	return &command{program: "sluice", args: []string{"run", "-f", file, "--log-level", "warn"}}
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
