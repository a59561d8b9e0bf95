package failure

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluicehq/sluice/record"
)

// Expired takes out what is over the age limit before an invocation, and takes care of runs that were given up
// before: those the function may not see again. What is left in keep may be handed to the function. It costs one look
// at each timestamp where nothing has expired, and nothing without an age limit.
//
// A caller that knows the function to be down does not ask: nothing is given up in an outage.
func (p *Policy) Expired(now time.Time, run record.Run) (keep []record.Run, d Decision) {
	if run.Retry != nil && run.Retry.GiveUp != "" {
		return nil, p.givenUp(now, run)
	}
	old, fresh := p.byAge(now, run.Records)
	if len(old) == 0 {
		return []record.Run{run}, Decision{}
	}
	var history record.Retry
	if run.Retry != nil {
		history = *run.Retry
	} else {
		history.Since = now
	}
	d = p.giveUp(now, run, history, old, record.RecordAgeExceeded)
	if len(fresh) > 0 {
		run.Records = fresh
		keep = []record.Run{run}
	}
	return keep, d
}

// givenUp looks again at a run that the function may not see: owed to the destination, or held because there was none
// and the mapping sets no limit. A reload may have brought either in the meantime, and a held run ages.
func (p *Policy) givenUp(now time.Time, run record.Run) Decision {
	switch {
	case p.Destination:
		return Decision{DeadLetter: []record.Run{run}}
	case p.MaximumRetryAttempts >= 0:
		return Decision{Drop: []record.Run{run}}
	}
	held := *run.Retry
	held.Waits++
	held.NotBefore = now.Add(p.MaximumBackoff)
	return p.ageOut(now, run, held, whole)
}

// Undelivered keeps a given-up run whose destination did not confirm it, with a pause that grows each time. It is
// never dropped for that, and the function is not called again. The run may be a part of the one that was delivered:
// the records without confirmation.
//
// The destination's own failure is not written into the run: a dead letter tells what the function did. The caller
// shows it and raises the alarm.
func (p *Policy) Undelivered(now time.Time, rnd float64, run record.Run) record.Run {
	var next record.Retry
	if run.Retry != nil {
		next = *run.Retry
	}
	next.Waits++
	next.NotBefore = now.Add(p.pause(next.Waits, rnd))
	run.Retry = &next
	return run
}

// ageOut gives up the records that are too old, with the history so far, and tries the others again in the pieces
// that cut makes of them.
func (p *Policy) ageOut(now time.Time, run record.Run, next record.Retry, cut func([]*record.Record) [][]*record.Record) Decision {
	old, fresh := p.byAge(now, run.Records)
	if len(old) == 0 {
		return p.again(now, run, next, cut(run.Records)...)
	}
	d := p.giveUp(now, run, next, old, record.RecordAgeExceeded)
	if len(fresh) == 0 {
		return d
	}
	// A run that loses records to their age is smaller already, so a single rest is not blamed here.
	d.Retry = p.again(now, run, next, cut(fresh)...).Retry
	return d
}

// again makes runs of the pieces, all with the same history.
func (p *Policy) again(now time.Time, run record.Run, next record.Retry, pieces ...[]*record.Record) Decision {
	if next.NotBefore.Before(now) {
		next.NotBefore = now
	}
	retry := &next
	d := Decision{Retry: make([]record.Run, len(pieces))}
	for i, records := range pieces {
		d.Retry[i] = record.Run{TopicPartition: run.TopicPartition, Records: records, Retry: retry}
	}
	return d
}

// giveUp makes one run of the records and owes it to the destination, or drops it where there is none.
func (p *Policy) giveUp(now time.Time, run record.Run, next record.Retry, records []*record.Record, why record.Condition) Decision {
	next.GiveUp = why
	next.Waits = 0
	next.NotBefore = now
	runs := []record.Run{{TopicPartition: run.TopicPartition, Records: records, Retry: &next}}
	if p.Destination {
		return Decision{DeadLetter: runs}
	}
	return Decision{Drop: runs}
}

// after copies the history of a run that has just failed and notes the failure.
func after(run record.Run, now time.Time, f record.Failure) record.Retry {
	if len(run.Records) == 0 {
		panic(fmt.Sprintf("failure: run of %s without records", run.TopicPartition))
	}
	next := record.Retry{Since: now}
	if run.Retry != nil {
		next = *run.Retry
	}
	next.Last = f
	next.GiveUp = ""
	return next
}

// byAge parts the records that are over the age limit from the others. Without any it returns records as it is.
func (p *Policy) byAge(now time.Time, records []*record.Record) (old, fresh []*record.Record) {
	if p.MaximumRecordAge <= 0 {
		return nil, records
	}
	limit := now.Add(-p.MaximumRecordAge)
	expired := func(r *record.Record) bool {
		return r.Timestamp.Before(limit) && r.Timestamp.UnixMilli() >= 0 // -1 ms is Kafka's «no timestamp»
	}
	if !slices.ContainsFunc(records, expired) {
		return nil, records
	}
	for _, r := range records {
		if expired(r) {
			old = append(old, r)
		} else {
			fresh = append(fresh, r)
		}
	}
	return old, fresh
}

// pick returns the records with these indexes, in order and each once.
func pick(records []*record.Record, indexes []int) []*record.Record {
	indexes = slices.Sorted(slices.Values(indexes))
	indexes = slices.Compact(indexes)
	picked := make([]*record.Record, len(indexes))
	for i, at := range indexes {
		if at < 0 || at >= len(records) {
			panic(fmt.Sprintf("failure: record %d of a run of %d named as failed", at, len(records)))
		}
		picked[i] = records[at]
	}
	return picked
}

func whole(records []*record.Record) [][]*record.Record { return [][]*record.Record{records} }

// halves cuts in the middle; the first half is the smaller one where they differ.
func halves(records []*record.Record) [][]*record.Record {
	if len(records) < 2 {
		return whole(records)
	}
	middle := len(records) / 2
	return [][]*record.Record{records[:middle:middle], records[middle:]}
}
