package failure

import (
	"time"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// Policy is what a mapping says about failures. A Policy does not change while it is in use, and may be asked by any
// number of goroutines.
type Policy struct {
	// MaximumRetryAttempts is how often records are tried again after the first attempt; -1 is no limit. Attempts
	// in all are one more (AWS, MaximumRetryAttempts).
	MaximumRetryAttempts int
	// MaximumRecordAge gives records up that are older; 0 is no limit. The age runs from the record's own timestamp
	// (AWS, MaximumRecordAgeInSeconds), so it counts the time in Kafka too. How long one invocation may take is the
	// function's time-out and has nothing to do with it. A record without a timestamp never ages.
	MaximumRecordAge time.Duration
	// Bisect splits a run of several records that failed as a whole, instead of trying it again as it is
	// (AWS, BisectBatchOnFunctionError).
	Bisect bool
	// Destination says that the mapping has an on-failure destination.
	Destination bool
	// InitialBackoff is the longest pause after a first failure. It doubles with each further one up to
	// MaximumBackoff; the pause itself is drawn evenly below that (full jitter). Zero means no pause.
	InitialBackoff, MaximumBackoff time.Duration
}

// Decision splits one run of a failed batch. Records of the run that are in none of the lists were taken by the
// function. The lists share the records, not the slice, of the run that was judged.
type Decision struct {
	// Retry is to be handed to the function again, in offset order and one run after the other, none before its
	// NotBefore. A run here whose GiveUp is set is held instead: it is too large to invoke, the mapping has neither
	// a destination nor a limit, and an operator must act. It comes back through Expired.
	Retry []record.Run
	// DeadLetter is owed to the destination; GiveUp says why.
	DeadLetter []record.Run
	// Drop is settled as dropped: limits ran out and there is no destination. To be counted and logged.
	Drop []record.Run
}

// Failed judges a run that was the whole batch of a failed invocation. The failure f is err in the words that travel
// with a run; rnd, in [0, 1), draws the pause.
func (p *Policy) Failed(now time.Time, rnd float64, run record.Run, f record.Failure, err *invoke.Error) Decision {
	return p.failed(now, rnd, run, f, err, false)
}

// FailedShared judges a run whose batch carried other runs as well, so that any of them may be at fault. Tried alone
// from now on, the run is already a split of that batch: where Failed would split it, FailedShared keeps it whole,
// and a single record is not blamed for the size of a batch, nor charged for a bisected one.
func (p *Policy) FailedShared(now time.Time, rnd float64, run record.Run, f record.Failure, err *invoke.Error) Decision {
	return p.failed(now, rnd, run, f, err, true)
}

func (p *Policy) failed(now time.Time, rnd float64, run record.Run, f record.Failure, err *invoke.Error, shared bool) Decision {
	next := after(run, now, f)
	if err.Kind != invoke.TooLarge || err.Status != 0 { // with status 0 we refused it ourselves, nothing was sent
		next.Invocations++
	}
	switch {
	case err.Kind == invoke.Canceled:
		// Our own doing: no pause, no blame, and no judgement of age on the way out.
		return p.again(now, run, next, run.Records)
	case err.Kind == invoke.TooLarge:
		return p.tooLarge(now, rnd, run, next, shared)
	case !err.Kind.SpendsAttempt():
		return p.wait(now, rnd, run, next, err)
	}
	next.Waits = 0
	if p.Bisect && (shared || len(run.Records) > 1) {
		return p.bisect(now, rnd, run, next, err.RetryAfter, shared)
	}
	next.Attempts++
	if p.exhausted(next.Attempts) {
		return p.giveUp(now, run, next, run.Records, record.RetryAttemptsExhausted)
	}
	next.NotBefore = now.Add(max(p.pause(next.Attempts, rnd), err.RetryAfter))
	return p.ageOut(now, run, next, whole)
}

// PartiallyFailed judges a run of which the function named some records as failed (batchItemFailures), by their index
// in run.Records, in any order; the others were taken. Only the named ones are tried again, together; that spends one
// attempt. It marks the failure as partial, with status 200 (AWS: such a failure record has no function error).
func (p *Policy) PartiallyFailed(now time.Time, rnd float64, run record.Run, failed []int, f record.Failure) Decision {
	named := pick(run.Records, failed)
	if len(named) == 0 {
		return Decision{}
	}
	f.Partial = true
	if f.Kind == "" {
		f.Kind = BatchItemFailure
	}
	if f.Status == 0 {
		f.Status = 200
	}
	next := after(run, now, f)
	next.Invocations++
	next.Waits = 0
	next.Attempts++
	if p.exhausted(next.Attempts) {
		return p.giveUp(now, run, next, named, record.RetryAttemptsExhausted)
	}
	next.NotBefore = now.Add(p.pause(next.Attempts, rnd))
	run.Records = named
	return p.ageOut(now, run, next, whole)
}

// BatchItemFailure is the Kind of a partial failure: the invocation itself did not fail, so no invoke.Kind fits.
const BatchItemFailure = "BatchItemFailure"

// tooLarge splits at once, for a batch that was refused for its size is refused again unchanged. Nothing but the size
// is wrong, so no attempt is spent. A record that is too large alone can never be invoked.
func (p *Policy) tooLarge(now time.Time, rnd float64, run record.Run, next record.Retry, shared bool) Decision {
	next.Waits = 0
	next.NotBefore = now
	switch {
	case shared:
		return p.ageOut(now, run, next, whole)
	case len(run.Records) > 1:
		return p.ageOut(now, run, next, halves)
	case p.Destination || p.MaximumRetryAttempts >= 0:
		return p.giveUp(now, run, next, run.Records, record.MaximumPayloadSizeExceeded)
	}
	next.GiveUp = record.MaximumPayloadSizeExceeded
	next.Waits = 1
	next.NotBefore = now.Add(p.pause(next.Waits, rnd))
	return p.ageOut(now, run, next, whole)
}

// wait answers a target that did not get the batch to the function's code: throttled or unreachable. While it is
// unreachable, nothing is given up, not even for its age (product contract, «Failure», outage).
func (p *Policy) wait(now time.Time, rnd float64, run record.Run, next record.Retry, err *invoke.Error) Decision {
	next.Waits++
	next.NotBefore = now.Add(max(p.pause(next.Waits, rnd), err.RetryAfter))
	if err.Kind == invoke.Unreachable {
		return p.again(now, run, next, run.Records)
	}
	return p.ageOut(now, run, next, whole)
}

// bisect tries the halves, first half first. The split spends no attempt (AWS, BisectBatchOnFunctionError), and it is
// progress, so the pause does not grow either.
func (p *Policy) bisect(now time.Time, rnd float64, run record.Run, next record.Retry, retryAfter time.Duration, shared bool) Decision {
	next.NotBefore = now.Add(max(p.pause(1, rnd), retryAfter))
	if shared {
		return p.ageOut(now, run, next, whole)
	}
	return p.ageOut(now, run, next, halves)
}

// exhausted says whether that many attempts were the last allowed.
func (p *Policy) exhausted(attempts int) bool {
	return p.MaximumRetryAttempts >= 0 && attempts > p.MaximumRetryAttempts
}

// pause draws from [0, InitialBackoff·2^(n-1)), the bound capped at MaximumBackoff, for the n-th failure in a row.
func (p *Policy) pause(n int, rnd float64) time.Duration {
	bound := min(p.InitialBackoff, p.MaximumBackoff)
	for ; n > 1 && bound > 0 && bound < p.MaximumBackoff; n-- {
		if bound > p.MaximumBackoff/2 {
			bound = p.MaximumBackoff
			break
		}
		bound *= 2
	}
	return time.Duration(rnd * float64(bound))
}
