package failure

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// TestEveryRecordIsInExactlyOneList draws policies, runs and failures, and checks what every decision must hold,
// whatever it decides. A failing case is repeated by its seed.
func TestEveryRecordIsInExactlyOneList(t *testing.T) {
	for seed := range uint64(20_000) {
		c := draw(rand.New(rand.NewPCG(seed, 1)))
		if err := c.check(); err != nil {
			t.Fatalf("seed %d: %v\npolicy %+v\nrun %s, retry %+v\nstep %s %+v failed %v",
				seed, err, c.policy, ranges(c.run.Records), c.run.Retry, c.step, c.err, c.failed)
		}
	}
}

type drawn struct {
	now    time.Time
	policy Policy
	run    record.Run
	step   string
	err    *invoke.Error
	failed []int
	rnd    float64
}

func draw(r *rand.Rand) drawn {
	c := drawn{
		now: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(1e9))),
		policy: Policy{
			MaximumRetryAttempts: r.IntN(5) - 1,
			MaximumRecordAge:     time.Duration(r.IntN(2)) * time.Minute,
			Bisect:               r.IntN(2) == 0, Destination: r.IntN(2) == 0,
			InitialBackoff: time.Second, MaximumBackoff: time.Minute,
		},
		step: []string{"failed", "shared", "partial", "expired"}[r.IntN(4)],
		err: &invoke.Error{
			Kind: invoke.Kind(1 + r.IntN(int(invoke.Canceled))), Status: []int{0, 200, 413, 500}[r.IntN(4)],
			RetryAfter: time.Duration(r.IntN(3)) * 40 * time.Second,
		},
		rnd: r.Float64(),
	}
	c.run = record.Run{TopicPartition: record.TopicPartition{Topic: "orders", Partition: 3}}
	offset := r.Int64N(100)
	for n := 1 + r.IntN(12); n > 0; n-- {
		offset += 1 + r.Int64N(3)
		c.run.Records = append(c.run.Records, &record.Record{
			Topic: "orders", Partition: 3, Offset: offset,
			Timestamp: c.now.Add(-time.Duration(r.IntN(120)) * time.Second),
		})
		if r.IntN(2) == 0 {
			c.failed = append(c.failed, len(c.run.Records)-1)
		}
	}
	r.Shuffle(len(c.failed), func(i, j int) { c.failed[i], c.failed[j] = c.failed[j], c.failed[i] })
	if r.IntN(2) == 0 {
		c.run.Retry = &record.Retry{
			Attempts: r.IntN(4), Invocations: 4, Waits: r.IntN(70), Since: c.now.Add(-time.Hour),
			Last: record.Failure{Kind: "Timeout"},
		}
		if c.step == "expired" && r.IntN(2) == 0 {
			c.run.Retry.GiveUp = record.RetryAttemptsExhausted
		}
	}
	return c
}

func (c *drawn) check() error {
	before := slices.Clone(c.run.Records)
	var history record.Retry
	if c.run.Retry != nil {
		history = *c.run.Retry
	}
	var d Decision
	var keep []record.Run
	owed := before
	switch c.step {
	case "failed":
		d = c.policy.Failed(c.now, c.rnd, c.run, record.Failure{}, c.err)
	case "shared":
		d = c.policy.FailedShared(c.now, c.rnd, c.run, record.Failure{}, c.err)
	case "partial":
		d = c.policy.PartiallyFailed(c.now, c.rnd, c.run, c.failed, record.Failure{})
		owed = pick(before, c.failed)
	case "expired":
		keep, d = c.policy.Expired(c.now, c.run)
	}
	var seen []*record.Record
	for _, list := range [][]record.Run{keep, d.Retry, d.DeadLetter, d.Drop} {
		var inList []*record.Record
		for _, run := range list {
			if len(run.Records) == 0 || run.TopicPartition != c.run.TopicPartition {
				return fmt.Errorf("a run of %s with %d records", run.TopicPartition, len(run.Records))
			}
			inList = append(inList, run.Records...)
		}
		if !slices.IsSortedFunc(inList, byOffset) {
			return fmt.Errorf("a list is out of order: %s", ranges(inList))
		}
		seen = append(seen, inList...)
	}
	slices.SortFunc(seen, byOffset)
	if !slices.Equal(seen, owed) {
		return fmt.Errorf("records in the lists: %s", ranges(seen))
	}
	if !slices.Equal(c.run.Records, before) || c.run.Retry != nil && *c.run.Retry != history {
		return fmt.Errorf("the judged run was changed")
	}
	return c.checkLists(d, history)
}

func (c *drawn) checkLists(d Decision, history record.Retry) error {
	if c.policy.Destination && len(d.Drop) > 0 || !c.policy.Destination && len(d.DeadLetter) > 0 {
		return fmt.Errorf("dropped %d, dead letters %d", len(d.Drop), len(d.DeadLetter))
	}
	for _, run := range slices.Concat(d.DeadLetter, d.Drop) {
		if run.Retry == nil || run.Retry.GiveUp == "" {
			return fmt.Errorf("given up without a reason")
		}
	}
	gentle := c.step != "partial" && c.step != "expired" &&
		(c.err.Kind == invoke.Unreachable || c.err.Kind == invoke.Canceled)
	if gentle && len(d.DeadLetter)+len(d.Drop) > 0 {
		return fmt.Errorf("given up although the function did not answer")
	}
	for _, run := range d.Retry {
		held := run.Retry.GiveUp != ""
		spent := run.Retry.Attempts - history.Attempts
		switch {
		case held && (c.policy.Destination || c.policy.MaximumRetryAttempts >= 0):
			return fmt.Errorf("held although there is a way out")
		case run.Retry.NotBefore.Before(c.now):
			return fmt.Errorf("a try in the past")
		case spent < 0 || spent > 1:
			return fmt.Errorf("spent %d attempts", spent)
		case spent == 1 && c.step != "partial" && !c.err.Kind.SpendsAttempt():
			return fmt.Errorf("%s spent an attempt", c.err.Kind)
		case c.policy.MaximumRetryAttempts >= 0 && history.Attempts <= c.policy.MaximumRetryAttempts &&
			run.Retry.Attempts > c.policy.MaximumRetryAttempts:
			return fmt.Errorf("attempt %d of %d", run.Retry.Attempts, c.policy.MaximumRetryAttempts)
		case run.Retry.NotBefore.Sub(c.now) > c.policy.MaximumBackoff+c.err.RetryAfter:
			return fmt.Errorf("a pause of %v", run.Retry.NotBefore.Sub(c.now))
		}
		asked := c.step == "failed" && c.err.Kind != invoke.TooLarge && c.err.Kind != invoke.Canceled
		if asked && run.Retry.NotBefore.Before(c.now.Add(c.err.RetryAfter)) {
			return fmt.Errorf("a try inside Retry-After")
		}
	}
	return nil
}

func byOffset(a, b *record.Record) int { return int(a.Offset - b.Offset) }
