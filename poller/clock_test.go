package poller

import (
	"log/slog"
	"testing"
	"time"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/record"
)

// The wall clock jumps by an hour, either way: ages do not, until it has stood for ten minutes. Backoff goes by the time that
// passed.
func TestAgesDoNotJumpWithTheClock(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour, 12 * time.Second, -12 * time.Second} {
		start := time.Now() // with a monotonic reading
		c := newClock(start, slog.New(slog.DiscardHandler))
		p := failure.Policy{MaximumRetryAttempts: -1, MaximumRecordAge: 30 * time.Minute, InitialBackoff: time.Second, MaximumBackoff: time.Second}
		// look is how old a record of the start is after so long, with a wall clock that is off.
		look := func(after, off time.Duration) time.Duration {
			t.Helper()
			now := start.Add(after)
			at := c.at(now, now.Round(0).Add(off))
			if passed := at.Sub(start); passed != after && off != 0 && after < stepBelieved {
				t.Errorf("jump of %s: %s passed after %s", jump, passed, after)
			}
			return at.Round(0).Sub(start.Round(0))
		}
		for _, tc := range []struct{ after, off, want time.Duration }{
			{time.Minute, 0, time.Minute},
			{2 * time.Minute, jump, 2 * time.Minute},
			{11 * time.Minute, jump, 11 * time.Minute},
			{12*time.Minute - 1, jump, 12*time.Minute - 1},
			{12 * time.Minute, 0, 12 * time.Minute}, // mended: as if nothing had been
			{13 * time.Minute, jump, 13 * time.Minute},
			{22 * time.Minute, jump, 22 * time.Minute},
		} {
			if got := look(tc.after, tc.off); got != tc.want {
				t.Errorf("jump of %s: %s old after %s with the clock off by %s", jump, got, tc.after, tc.off)
			}
		}
		// After stepBelieved ages follow: what they are then is what the wall clock says.
		now := start.Add(23 * time.Minute)
		if at := c.at(now, now.Round(0).Add(jump)); !at.Equal(now) {
			t.Errorf("jump of %s: ages do not follow after ten minutes", jump)
		}
		fresh := record.Run{Records: []*record.Record{{Timestamp: start}}}
		c = newClock(start, slog.New(slog.DiscardHandler))
		now = start.Add(time.Minute)
		if keep, d := p.Expired(c.at(now, now.Round(0).Add(jump)), fresh); len(keep) != 1 || len(d.Drop) != 0 {
			t.Errorf("jump of %s: a record of a minute ago was given up", jump)
		}
	}
}

// Time servers slew, and step by little: that is followed at once, however much it comes to.
func TestAgesFollowSmallCorrectionsOfTheClock(t *testing.T) {
	start := time.Now()
	c := newClock(start, slog.New(slog.DiscardHandler))
	var off time.Duration
	for i := range 60_000 { // 54 s in all
		off += 900 * time.Microsecond
		now := start.Add(time.Duration(i) * time.Second)
		if at := c.at(now, now.Round(0).Add(off)); !at.Equal(now) {
			t.Fatalf("after %d s ages are held", i)
		}
	}
}
