package memory

import (
	"fmt"
	"runtime/debug"

	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/mapping"
)

// Shares is the memory of a configuration.
type Shares struct {
	Limit Limit
	Plan  *Plan
	// buffers are the fetch buffers of the enabled mappings.
	buffers map[mapping.Name]int64
}

// Of divides the memory that the process may take among the enabled mappings. Where somebody chose a limit that they do
// not fit into, that is a mistake of the configuration, with its place.
func Of(c *config.Config, s Sources) (*Shares, error) {
	loads, names := loadsOf(c)
	limit := Find(s)
	shares := &Shares{Limit: limit, Plan: Divide(limit.Bytes, loads), buffers: make(map[mapping.Name]int64, len(names))}
	for i, name := range names {
		shares.buffers[name] = shares.Plan.Buffers[i]
	}
	if limit.Chosen && !shares.Plan.Fits() {
		return nil, config.Errors{c.ServerAt("memoryLimit").Problem(
			fmt.Sprintf("set it to %s at least, disable mappings, or lower their maximumPollers, pollerLimits.concurrency or maximumBatchBytes",
				atLeast(shares.Plan.Least)), "%s", shares.tooLittle())}
	}
	return shares, nil
}

// Buffer is the fetch buffer of an enabled mapping; 0, the default one, where nothing was divided.
func (s *Shares) Buffer(name mapping.Name) int64 {
	if s == nil {
		return 0
	}
	return s.buffers[name]
}

// EventsKept bounds the events' memory that is kept between invocations.
func (s *Shares) EventsKept() int {
	if s == nil {
		return invoke.BuffersBytesDefault
	}
	return s.Plan.EventsKept
}

// Apply sets Go's limit. One that the environment has set, and that is no higher, stays.
func (s *Shares) Apply() {
	if s.Limit.Origin != environment {
		debug.SetMemoryLimit(s.Plan.GoLimit)
	}
}

// String is the sum, for validate.
func (s *Shares) String() string {
	return fmt.Sprintf("needs about %s with full buffers, up to %s with the largest events, of %s",
		text(min(s.Plan.Needs, s.Limit.Bytes)), text(min(s.Plan.Most, s.Limit.Bytes)), s.Limit)
}

// Warning says that the mappings need more than the machine gives; empty where they fit.
func (s *Shares) Warning() string {
	if s.Plan.Fits() {
		return ""
	}
	return s.tooLittle() + "; buffers have their least size, and under load the process may be killed for want of memory"
}

func (s *Shares) tooLittle() string {
	return fmt.Sprintf("%s is less than the %s that %d enabled mappings need at the least",
		s.Limit, atLeast(s.Plan.Least), len(s.buffers))
}

// atLeast writes bytes so that nobody who takes the number by its word gets less.
func atLeast(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }

// loadsOf translates the enabled mappings.
func loadsOf(c *config.Config) (loads []Load, names []mapping.Name) {
	for i := range c.Mappings {
		m := &c.Mappings[i]
		if !m.Enabled {
			continue
		}
		l := Load{Slots: m.MaximumPollers * m.PollerConcurrency, EventBytes: m.MaximumBatchBytes, DeadLetters: !m.OnFailure.IsZero()}
		if most := c.Functions[m.Function].MaxConcurrency; most > 0 {
			l.Slots = min(l.Slots, most)
		}
		if m.ReportBatchItemFailures {
			l.ResponseBytes = min(invoke.ResponseBytesMax, int64(m.BatchSize)*itemFailureBytes)
		}
		loads, names = append(loads, l), append(names, m.Name)
	}
	return loads, names
}

// itemFailureBytes is what a function writes to name one record that failed.
const itemFailureBytes = 128
