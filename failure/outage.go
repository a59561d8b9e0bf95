package failure

import (
	"time"

	"github.com/sluicehq/sluice/record"
)

// InOutage keeps a run whose call failed because the function is down: no attempt is spent, nothing is given up, not even
// for its age, and it may be called again as soon as the function's circuit lets calls through. With split, for a
// function that was reached and failed, a run of several records comes back in halves: the next call is a probe, and a
// healthy half tells an outage from a batch with a poison record.
func (p *Policy) InOutage(now time.Time, run record.Run, f record.Failure, split bool) []record.Run {
	next := after(run, now, f)
	next.Invocations++
	next.NotBefore = now
	cut := whole
	if split {
		cut = halves
	}
	return p.again(now, run, next, cut(run.Records)...).Retry
}
