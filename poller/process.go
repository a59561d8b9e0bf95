package poller

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// batch is the memory that a slot reuses from one lease to the next.
type batch struct {
	lease *Lease
	// runs go to the function; from[i] is the place of runs[i] among the lease's runs. An expired record may have
	// parted a run in two.
	runs []record.Run
	from []int
	// retry and given gather what the decisions say, by the lease's runs.
	retry [][]record.Run
	given []given
	id    string
	body  []byte
	// left says that the gate's pass was given back; successes is what the gate said then.
	left      bool
	successes uint64
}

// given is a run that the function will not see again.
type given struct {
	from int
	run  record.Run
	drop bool
}

func (b *batch) reset(l *Lease) {
	b.lease, b.id, b.left, b.successes = l, "", false, 0
	b.runs, b.from, b.retry, b.given = b.runs[:0], b.from[:0], nil, b.given[:0]
}

// again notes what has to come again of the lease's i-th run.
func (b *batch) again(i int, runs ...record.Run) {
	if len(runs) == 0 {
		return
	}
	if b.retry == nil {
		b.retry = make([][]record.Run, len(b.lease.Runs))
	}
	b.retry[i] = append(b.retry[i], runs...)
}

func (b *batch) decided(i int, d failure.Decision) {
	b.again(i, d.Retry...)
	for _, run := range d.DeadLetter {
		b.given = append(b.given, given{from: i, run: run})
	}
	for _, run := range d.Drop {
		b.given = append(b.given, given{from: i, run: run, drop: true})
	}
}

// process carries one batch from lease to settlement, and returns the one that the slot is to go on with; nil if it is to
// wait for its turn, for budget or for a batch.
func (p *poller) process(ctx context.Context, l *Lease, b *batch) *Lease {
	b.reset(l)
	p.screen(b)
	if len(b.runs) > 0 {
		p.call(b)
	}
	if !b.left {
		p.Gate.Cancel(l.Pass)
	}
	for i := range b.given {
		p.giveUp(b, &b.given[i])
	}
	for i := range b.retry {
		sortRuns(b.retry[i])
	}
	next := p.Feed.Settle(l, b.retry, p.again(ctx))
	if next != nil {
		p.charge(next)
	}
	return next
}

// screen takes out what the function must not see: records over their age, and runs that were given up before and
// only owe their dead letter. While the function is down nothing ages.
func (p *poller) screen(b *batch) {
	for i, run := range b.lease.Runs {
		owed := run.Retry != nil && run.Retry.GiveUp != ""
		if !owed && (p.Policy.MaximumRecordAge == 0 || b.lease.Pass.Probe()) {
			b.runs, b.from = append(b.runs, run), append(b.from, i)
			continue
		}
		keep, d := p.Policy.Expired(p.now(), run)
		b.decided(i, d)
		for _, k := range keep {
			b.runs, b.from = append(b.runs, k), append(b.from, i)
		}
	}
}

// call invokes the function with the runs of the batch and takes its answer apart.
func (p *poller) call(b *batch) {
	attempt := 1
	if r := b.runs[0].Retry; r != nil {
		attempt = r.Invocations + 1
	}
	b.id = invoke.BatchID(p.Mapping, b.runs)
	if b.lease.Encoded > p.BatchBytesMax {
		p.failed(b, attempt, false, &invoke.Error{Kind: invoke.TooLarge, Message: "the event is over maximumBatchBytes"})
		return
	}
	req := &invoke.Request{
		Mapping: p.Mapping, Attempt: attempt, BatchID: b.id, Body: p.Buffers.Get(int(b.lease.Encoded)),
		WantBody: p.PartialResponses, Buffer: b.body,
	}
	p.Encoder.Encode(req, b.runs)
	defer p.Buffers.Put(req.Body)
	records := count(b.runs)
	p.Metrics.Invoked.Add(records)
	p.Metrics.Batches.Add(1)
	p.Metrics.BatchRecords.Observe(records)
	p.Metrics.BatchBytes.Observe(len(req.Body))
	if attempt > 1 {
		p.Metrics.Retried.Add(records)
	}
	began := time.Now()
	resp, err := p.Function.Invoke(b.lease.Context, req)
	p.Metrics.InvokeDuration.Observe(time.Since(began))
	p.answered(b, attempt, resp, err)
}

// answered takes the function's answer apart and tells the gate what it says of the function.
func (p *poller) answered(b *batch, attempt int, resp invoke.Response, err error) {
	var named [][]int
	var bad *invoke.Error
	switch {
	case err != nil:
		bad = asError(err)
	case p.PartialResponses:
		b.body = resp.Body[:0]
		named, bad = invoke.ParseBatchResponse(resp.Body, b.runs)
	}
	var outage bool
	outage, b.successes = p.Gate.leave(time.Now(), b.lease.Pass, bad, b.runs)
	b.left = true
	switch {
	case bad != nil:
		p.Metrics.FailedInvoke.Add(count(b.runs))
		p.failed(b, attempt, outage, bad)
	case named != nil:
		p.named(b, attempt, named)
	default:
		p.Watch.taken()
	}
}

// failed asks the failure room about each run of a batch that failed as a whole.
func (p *poller) failed(b *batch, attempt int, outage bool, err *invoke.Error) {
	p.Metrics.InvokeErrors.Inc(err.Kind.String())
	p.Watch.failed(p.Log, b.runs, attempt, err)
	f, now := err.Failure(b.id), p.now()
	for i, run := range b.runs {
		var d failure.Decision
		switch {
		case outage:
			d.Retry = p.Policy.InOutage(now, run, f, err.Kind != invoke.Unreachable)
		case len(b.runs) > 1:
			d = p.Policy.FailedShared(now, p.Rand(), run, f, err)
		default:
			d = p.Policy.Failed(now, p.Rand(), run, f, err)
		}
		if err.Kind.SpendsAttempt() {
			suspect := !outage && circuit.Suspect(&run, b.successes)
			for _, again := range d.Retry {
				again.Retry.Successes = b.successes + 1
				again.Retry.Suspect = again.Retry.Suspect || suspect
			}
		}
		b.decided(b.from[i], d)
	}
}

// named asks the failure room about the records that the function named as failed.
func (p *poller) named(b *batch, attempt int, named [][]int) {
	total, now := 0, p.now()
	for i, failed := range named {
		if len(failed) == 0 {
			continue
		}
		total += len(failed)
		f := record.Failure{Kind: failure.BatchItemFailure, Status: 200, RequestID: b.id}
		b.decided(b.from[i], p.Policy.PartiallyFailed(now, p.Rand(), b.runs[i], failed, f))
	}
	if total == 0 {
		p.Watch.taken()
		return
	}
	p.Metrics.FailedInvoke.Add(total)
	p.Watch.partlyFailed(p.Log, b.runs, attempt, total)
}

// giveUp hands a run to the on-failure destination, or drops it where there is none. What the destination does not
// confirm comes back to it later.
func (p *poller) giveUp(b *batch, g *given) {
	n := len(g.run.Records)
	if g.drop {
		p.Metrics.Dropped.Add(n)
		p.Watch.dropped(p.Log, &g.run)
		return
	}
	// Not under the lease's context: the function's time-out may just have used that up. If the records are another's
	// by now, it delivers them once more.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.lease.Context), deliveryTimeout)
	undelivered, err := p.Destination.Deliver(ctx, g.run)
	cancel()
	p.Metrics.OnFailureDestinationDelivered.Add(n - len(undelivered))
	if err == nil {
		p.Watch.delivered(p.Log, &g.run)
		return
	}
	p.Metrics.OnFailureDestinationDeliveryErrors.Inc("Undelivered")
	p.Watch.undelivered(p.Log, &g.run, err)
	run := g.run
	run.Records = undelivered
	b.again(g.from, p.Policy.Undelivered(p.now(), p.Rand(), run))
}

// deliveryTimeout bounds one delivery to the destination; what is not confirmed by then is delivered again later.
const deliveryTimeout = time.Minute
