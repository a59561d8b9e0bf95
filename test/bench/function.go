package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sluicehq/sluice/test/bench/timeline"
)

// helper is a program of the bench that answers questions over HTTP: the function that is called, mostly.
type helper struct {
	*process
	address string
	started time.Time
}

// help starts a helper.
func (b *bench) help(ctx context.Context, program string, args ...string) (*helper, error) {
	p, address, err := b.startHelper(ctx, program, args...)
	if err != nil {
		return nil, err
	}
	return &helper{p, address, time.Now()}, nil
}

// url is where it is called; paths begin without a slash.
func (h *helper) url(path string) string { return "http://" + h.address + "/" + path }

// age is the time on the timeline of a function.
func (h *helper) age() time.Duration { return time.Since(h.started) }

// timeline is all that a function counted.
func (h *helper) timeline(ctx context.Context) (timeline.Timeline, error) {
	return ask[timeline.Timeline](ctx, h, "timeline")
}

// watch tells how far a function is, twice a second until ctx ends.
func (h *helper) watch(ctx context.Context, tell func(timeline.Sample)) {
	every := time.NewTicker(time.Second / 2)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		if now, err := ask[timeline.Timeline](ctx, h, "timeline?last"); err == nil && ctx.Err() == nil {
			tell(now.Total())
		}
	}
}

// ask asks a helper for something.
func ask[T any](ctx context.Context, h *helper, path string) (answer T, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url(path), nil)
	if err != nil {
		return answer, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return answer, fmt.Errorf("%s, %s: %s: %s", h.name, path, resp.Status, strings.TrimSpace(string(text)))
	}
	return answer, json.NewDecoder(resp.Body).Decode(&answer)
}
