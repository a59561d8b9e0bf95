package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/sluicehq/sluice/test/bench/timeline"
)

// function is the process that is called: a new one for each run.
type function struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	address string
	started time.Time
}

func startFunction(ctx context.Context, program string) (*function, error) {
	f := &function{cmd: exec.CommandContext(ctx, program)}
	stdin, err := f.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := f.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := f.cmd.Start(); err != nil {
		return nil, err
	}
	f.stdin = stdin
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		f.stop()
		return nil, fmt.Errorf("the function did not start: %w", err)
	}
	f.address, f.started = strings.TrimSpace(line), time.Now()
	return f, nil
}

func (f *function) url() string { return "http://" + f.address + "/" }

// age is the time on the timeline.
func (f *function) age() time.Duration { return time.Since(f.started) }

func (f *function) stop() {
	_ = f.stdin.Close()
	_ = f.cmd.Wait()
}

// timeline is all that the function counted.
func (f *function) timeline(ctx context.Context) (timeline.Timeline, error) {
	return f.get(ctx, "timeline")
}

// watch tells how far it is, twice a second until ctx ends.
func (f *function) watch(ctx context.Context, tell func(timeline.Sample)) {
	every := time.NewTicker(time.Second / 2)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		if now, err := f.get(ctx, "timeline?last"); err == nil && ctx.Err() == nil {
			tell(now.Total())
		}
	}
}

func (f *function) get(ctx context.Context, path string) (timeline.Timeline, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url()+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the function's timeline: %s", resp.Status)
	}
	var line timeline.Timeline
	return line, json.NewDecoder(resp.Body).Decode(&line)
}
