// Package ledger proves what a run did to its records: that none was lost, that a partition's records were handed over
// in order, and how often a record came twice. It is told what was produced, each delivery when it begins and when it
// ends, and what was given up; Report judges. It knows nothing of Sluice, Kafka or HTTP.
//
// A record is settled when a delivery of it has succeeded, or when it was given up (found on the dead-letter topic, or
// dropped as the mapping's limits say). Order within a partition means: when a delivery begins, every earlier record of
// the partition is settled or in the same batch. That holds for first deliveries and for those after a crash.
//
// A record that fails and is never given up, or given up after a later one was handed over, is overtaken: a violation.
// Since nobody can see at the time of a delivery whether a failed record has been given up, the ledger remembers the
// first delivery that overtook each record, and judges when all is known.
package ledger

import (
	"fmt"
	"sync"
	"time"

	"github.com/sluicehq/sluice/record"
)

// OffsetMax bounds the offsets, and so the memory: 16 bytes for each offset of a partition from 0 on.
const OffsetMax = 1 << 26

// Order is what a mode promises.
type Order int

// The orders.
const (
	PerPartition Order = iota // Stream
	None                      // Queue
)

// Ledger collects. Its methods may be called from any goroutine; deliveries count in the order of the calls.
type Ledger struct {
	order Order

	mu         sync.Mutex
	partitions map[record.TopicPartition]*partition
	attempts   int64
	failed     int64
}

// New makes an empty ledger.
func New(order Order) *Ledger {
	return &Ledger{order: order, partitions: map[record.TopicPartition]*partition{}}
}

// Run is the records of one partition in one batch, at least one, in the order in which the batch has them.
type Run struct {
	record.TopicPartition
	Offsets []record.Offset

	// Sums are the records' checksums (Sum), in the order of Offsets; nil if nobody asked.
	Sums []uint32
}

// Delivery is one that has begun.
type Delivery struct{ runs []Run }

// Record says that a record was produced: where Kafka put it, and with which key and value.
func (l *Ledger) Record(r *record.Record) {
	l.Produced(record.TopicPartition{Topic: r.Topic, Partition: r.Partition}, record.Offset(r.Offset), Sum(r.Key, r.Value))
}

// Produced says that a record was acknowledged by Kafka; sum is its checksum (Sum), 0 if nobody knows. It may come
// after the record's first delivery, which then goes without a comparison.
func (l *Ledger) Produced(tp record.TopicPartition, offset record.Offset, sum uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.partition(tp)
	e := p.entry(offset)
	if e.flags&produced == 0 {
		p.progress.Produced++
	}
	e.flags |= produced
	e.sum = sum
}

// Begin says that a batch is being handed over now. The ledger keeps runs until End.
func (l *Ledger) Begin(at time.Time, runs []Run) Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts++
	for _, run := range runs {
		p := l.partition(run.TopicPartition)
		for i, offset := range run.Offsets {
			e := p.entry(offset)
			e.deliveries++
			e.open++
			if run.Sums != nil {
				p.compare(offset, run.Sums[i])
			}
		}
		if l.order == PerPartition {
			p.overtake(at, p.tidy(run.Offsets))
		}
	}
	return Delivery{runs}
}

// End says how a delivery ended: with all records taken, or with those failed for which failed returns true. It must
// be called before the answer is sent, or the next delivery may seem to begin too early. nil means that none failed.
func (l *Ledger) End(d Delivery, failed func(record.TopicPartition, record.Offset) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := true
	for _, run := range d.runs {
		p := l.partition(run.TopicPartition)
		for _, offset := range run.Offsets {
			e := p.entry(offset)
			e.open--
			if failed != nil && failed(run.TopicPartition, offset) {
				whole = false
				continue
			}
			if e.successes == 0 {
				p.progress.Taken++
			}
			e.successes++
		}
		p.advance()
	}
	if !whole {
		l.failed++
	}
}

// All is for End: every record failed.
func All(record.TopicPartition, record.Offset) bool { return true }

// Progress is how far a partition is, in records, repetitions not counted.
type Progress struct{ Produced, Taken int64 }

// Progress is how far each partition is, and all of them. It costs nothing to speak of, where a Report looks at every
// record.
func (l *Ledger) Progress() (total Progress, partitions map[record.TopicPartition]Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	partitions = make(map[record.TopicPartition]Progress, len(l.partitions))
	for tp, p := range l.partitions {
		partitions[tp] = p.progress
		total.Produced += p.progress.Produced
		total.Taken += p.progress.Taken
	}
	return total, partitions
}

// DeadLettered says that a record was found on the dead-letter topic, written there at that time (the dead letter's own
// timestamp, in milliseconds; zero if unknown). A record may be there more than once.
func (l *Ledger) DeadLettered(tp record.TopicPartition, offset record.Offset, at time.Time) {
	l.giveUp(tp, offset, at, deadLettered)
}

// Dropped says that a record was given up without a destination, as the mapping's limits say; at may be zero.
func (l *Ledger) Dropped(tp record.TopicPartition, offset record.Offset, at time.Time) {
	l.giveUp(tp, offset, at, dropped)
}

func (l *Ledger) giveUp(tp record.TopicPartition, offset record.Offset, at time.Time, how flag) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.partition(tp)
	p.entry(offset).flags |= how
	if earlier, ok := p.givenUp[offset]; !ok || at.Before(earlier) {
		p.givenUp[offset] = at
	}
}

func (l *Ledger) partition(tp record.TopicPartition) *partition {
	p := l.partitions[tp]
	if p == nil {
		p = &partition{
			overtaken: map[record.Offset]overtaking{},
			givenUp:   map[record.Offset]time.Time{},
		}
		l.partitions[tp] = p
	}
	return p
}

func check(offset record.Offset) {
	if offset < 0 || offset > OffsetMax {
		panic(fmt.Sprintf("ledger: offset %d is not in 0..%d", offset, OffsetMax))
	}
}
