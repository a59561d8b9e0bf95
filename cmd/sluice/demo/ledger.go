package demo

import (
	"fmt"
	"sync"
	"time"
)

// ledger proves what became of the records of one topic. It is told what Kafka acknowledged, what the function is handed
// and how that ends, and what was found on the dead-letter topic. A record is settled when the function has taken it, or
// when it is a dead letter.
//
// Order means: when a record is handed over, every earlier one of its partition is settled, or before it in the same
// batch. Whether an earlier record had been given up by then shows only when its dead letter is read; so what overtook it
// first is remembered, and judged at the end. Offsets have no gaps here: nothing is compacted, and there are no
// transactions.
//
// Memory: one number a partition, and the records that are out or were settled out of turn.
type ledger struct {
	mu         sync.Mutex
	partitions []journal
	counts     counts
}

// counts are sums over all partitions.
type counts struct {
	Produced     int64 // acknowledged by Kafka
	Taken        int64 // by the function, each record once
	DeadLettered int64 // found on the dead-letter topic, each record once
	Duplicates   int64 // taken again
	Batches      int64 // invocations
	Retries      int64 // invocations that were not the first with their records
	Failed       int64 // invocations that the function failed
	// Sent and Seen are the sums of the amounts in the records: of all that were produced, and of all that were settled.
	Sent, Seen int64
}

func (c counts) settled() int64 { return c.Taken + c.DeadLettered }

// journal is one partition. Every record below next is settled.
type journal struct {
	next      int64
	end       int64 // behind the last produced record
	ahead     map[int64]bool
	out       map[int64]int // how many calls carry the record now
	overtaken map[int64]overtaking
	givenUp   map[int64]time.Time
	unordered int // runs that were not in the order of offsets
}

// overtaking is the first time at which a later record was handed over before this one was settled.
type overtaking struct {
	at  time.Time
	out bool // this one was out at that moment, so it cannot have been given up
}

func newLedger(partitions int32) *ledger {
	l := &ledger{partitions: make([]journal, partitions)}
	for i := range l.partitions {
		l.partitions[i] = journal{
			ahead: map[int64]bool{}, out: map[int64]int{},
			overtaken: map[int64]overtaking{}, givenUp: map[int64]time.Time{},
		}
	}
	return l
}

// handed is a record as a batch carries it.
type handed struct{ offset, amount int64 }

// run is the records of one partition in one batch, in the batch's order.
type run struct {
	partition int32
	records   []handed
}

// produced says that Kafka has acknowledged a record.
func (l *ledger) produced(partition int32, offset, amount int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := &l.partitions[partition]
	j.end = max(j.end, offset+1)
	l.counts.Produced++
	l.counts.Sent += amount
}

// begin says that a batch has reached the function.
func (l *ledger) begin(now time.Time, attempt int, runs []run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.Batches++
	if attempt > 1 {
		l.counts.Retries++
	}
	for _, r := range runs {
		l.partitions[r.partition].begin(now, r.records)
	}
}

func (j *journal) begin(now time.Time, records []handed) {
	at := j.next
	for i, r := range records {
		if i > 0 && r.offset <= records[i-1].offset {
			j.unordered++
		}
		for ; at < r.offset; at++ {
			if _, told := j.overtaken[at]; !told && !j.ahead[at] {
				j.overtaken[at] = overtaking{at: now, out: j.out[at] > 0}
			}
		}
		at = max(at, r.offset+1)
	}
	for _, r := range records {
		j.out[r.offset]++
	}
}

// end says how the function answered, before the answer is sent.
func (l *ledger) end(runs []run, took bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !took {
		l.counts.Failed++
	}
	for _, r := range runs {
		j := &l.partitions[r.partition]
		for _, rec := range r.records {
			if j.out[rec.offset]--; j.out[rec.offset] == 0 {
				delete(j.out, rec.offset)
			}
			switch {
			case !took:
			case j.settle(rec.offset):
				l.counts.Taken++
				l.counts.Seen += rec.amount
			default:
				l.counts.Duplicates++
			}
		}
	}
}

// settle marks a record and says whether it was not settled before.
func (j *journal) settle(offset int64) bool {
	if offset < j.next || j.ahead[offset] {
		return false
	}
	j.ahead[offset] = true
	for j.ahead[j.next] {
		delete(j.ahead, j.next)
		j.next++
	}
	return true
}

// deadLettered says that a record was found on the dead-letter topic, written at that time.
func (l *ledger) deadLettered(at time.Time, partition int32, offset, amount int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := &l.partitions[partition]
	if _, again := j.givenUp[offset]; again {
		return
	}
	j.givenUp[offset] = at
	if j.settle(offset) {
		l.counts.DeadLettered++
		l.counts.Seen += amount
	}
}

// isDeadLetter says whether the record was found on the dead-letter topic.
func (l *ledger) isDeadLetter(partition int32, offset int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, found := l.partitions[partition].givenUp[offset]
	return found
}

// sums are the counts at this moment.
func (l *ledger) sums() counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// judge says how many produced records are not settled, how often order was broken, and shows the first few faults.
func (l *ledger) judge(topic string) (lost, violations int64, faults []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost = l.counts.Produced - l.counts.settled()
	for p := range l.partitions {
		j := &l.partitions[p]
		if j.unordered > 0 {
			violations += int64(j.unordered)
			faults = append(faults, fmt.Sprintf("%s-%d: %d runs were not in the order of offsets", topic, p, j.unordered))
		}
		for offset, o := range j.overtaken {
			givenUp, ok := j.givenUp[offset]
			if ok && !o.out && !givenUp.After(o.at) {
				continue
			}
			violations++
			faults = append(faults, fmt.Sprintf("%s-%d@%d: a later record was handed over before it was settled", topic, p, offset))
		}
		if j.next < j.end {
			faults = append(faults, fmt.Sprintf("%s-%d@%d is not settled", topic, p, j.next))
		}
	}
	const most = 10
	return lost, violations, faults[:min(len(faults), most)]
}
