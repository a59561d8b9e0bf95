package poller

import (
	"log/slog"
	"sync"
	"time"
)

// clock is the time by which the ages of records count. It is the wall clock, but for its steps: where that jumps while we
// run, ages go on as before until the new time has stood for stepBelieved. Else an hour's mistake of a time server, mended
// a minute later, would make every record an hour too old. Everything else goes by the monotonic clock, which does not jump;
// so do the times that come from here, compared with one another.
type clock struct {
	mu   sync.Mutex
	base time.Time // what the wall clock showed when it was believed last
	// stepped is when it was seen to have jumped; zero if it has not.
	stepped time.Time
	log     *slog.Logger
}

const (
	// stepMin is by how much the wall clock and ours must differ to call it a jump: time servers adjust by less.
	stepMin = 10 * time.Second
	// stepBelieved is how long a jump must stand before ages follow it.
	stepBelieved = 10 * time.Minute
)

func newClock(now time.Time, log *slog.Logger) *clock { return &clock{base: now, log: log} }

// at is the time for ages. now is of time.Now; wall is what the wall clock shows at that moment.
func (c *clock) at(now, wall time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	steady := c.base.Add(now.Sub(c.base))
	step := wall.Sub(steady.Round(0))
	switch {
	case step.Abs() < stepMin:
		c.base, c.stepped = now, time.Time{}
		return now
	case c.stepped.IsZero():
		c.stepped = now
		c.log.Warn("the clock of this machine has jumped; ages of records do not follow until it has stood for a while",
			"by", step.Round(time.Millisecond), "for", stepBelieved)
	case now.Sub(c.stepped) >= stepBelieved:
		c.log.Warn("ages of records follow the clock of this machine, which had jumped", "by", step.Round(time.Millisecond))
		c.base, c.stepped = now, time.Time{}
		return now
	}
	return steady
}

// now is the time for decisions that look at ages.
func (p *poller) now() time.Time {
	now := time.Now()
	if p.Policy.MaximumRecordAge <= 0 {
		return now
	}
	return p.clock.at(now, now.Round(0))
}
