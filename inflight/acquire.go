package inflight

import (
	"time"

	"github.com/sluicehq/sluice/record"
)

// Lease is one batch that is out: the runs that one invocation carries.
type Lease struct {
	// ID counts the leases of a set, from 1.
	ID uint64
	// Runs are of different partitions, at least one, none empty.
	Runs []record.Run
	// Records is how many records the runs hold.
	Records int
	// Bytes is what the records count against throughput caps; 0 for a retry, which is free.
	Bytes int64
	// Encoded is the size of the event document that carries them.
	Encoded int64

	done bool
}

// room is what a batch can still take.
type room struct {
	records int
	bytes   int64
	empty   bool
}

// Acquire makes the next batch that is due, or returns nil and the time at which one may become due without
// anything else happening (zero if none will). slots is how many invocations could start right now, at least 1:
// while slots are free, batches span as few partitions as possible.
//
// Failed runs whose time has come and records that come for the first time take turns. A failed run goes on its own. Of
// the others, the partition that has been ready longest goes alone if it fills a batch. Partitions that do not fill one
// are gathered: as soon as together they do, or when the oldest has waited for the batching window.
func (s *Set) Acquire(now time.Time, slots int) (*Lease, time.Time) {
	w, partitions := s.fresh(now, slots)
	due := len(s.waiting) > 0 && !s.waiting[0].notBefore().After(now)
	switch {
	case due && (w == nil || !s.retried):
		s.retried = true
		return s.again(s.waiting[0]), time.Time{}
	case w != nil:
		s.retried = false
		return s.gather(w, partitions), time.Time{}
	}
	return nil, s.wake(s.partial.front)
}

// fresh is the window to begin a batch of new records with, and how many windows it may span; nil if none is due.
func (s *Set) fresh(now time.Time, slots int) (w *window, partitions int) {
	oldest := s.partial.front
	expired := oldest != nil && !oldest.since.Add(s.limits.BatchingWindow).After(now)
	if w := s.full.front; w != nil && (!expired || !oldest.since.Before(w.since)) {
		return w, 1
	}
	switch {
	case oldest == nil:
	case s.fills(s.partial.records, s.partial.bytes):
		return oldest, s.partial.len
	case expired:
		ready := s.partial.len + s.full.len
		return oldest, (ready + slots - 1) / slots
	}
	return nil, 0
}

// wake is when the next waiting run or the oldest partial batch becomes due.
func (s *Set) wake(oldest *window) time.Time {
	var at time.Time
	if len(s.waiting) > 0 {
		at = s.waiting[0].notBefore()
	}
	if oldest != nil {
		if due := oldest.since.Add(s.limits.BatchingWindow); at.IsZero() || due.Before(at) {
			at = due
		}
	}
	return at
}

// again leases the run that is first in a waiting window.
func (s *Set) again(w *window) *Lease {
	s.waiting.remove(w)
	run := w.retries[0]
	w.retries = w.retries[1:]
	l := s.newLease()
	l.Encoded = int64(s.sizes.Event + w.runOverhead)
	for _, r := range run.Records {
		l.Encoded += int64(s.sizes.Record(r))
	}
	s.hold(l, w, run)
	return l
}

// gather leases records of w and of the windows behind it, of at most partitions windows.
func (s *Set) gather(w *window, partitions int) *Lease {
	l := s.newLease()
	l.Encoded = int64(s.sizes.Event)
	left := room{records: s.limits.BatchRecords, bytes: s.limits.BatchBytes - l.Encoded, empty: true}
	for ; w != nil && partitions > 0 && left.records > 0; partitions-- {
		if !left.empty && int64(w.runOverhead+s.sizes.Record(w.at(0))) > left.bytes {
			break // it keeps its place: the next batch begins with it
		}
		next := w.succ
		s.unlist(w)
		run, bytes, encoded := w.take(left, s.sizes.Record)
		l.Bytes += bytes
		l.Encoded += encoded
		left = room{records: left.records - len(run.Records), bytes: left.bytes - encoded}
		w.heldRecords, w.heldBytes = len(run.Records), bytes
		s.hold(l, w, run)
		w = next
	}
	return l
}

func (s *Set) newLease() *Lease {
	s.nextID++
	s.leases++
	return &Lease{ID: s.nextID, Runs: make([]record.Run, 0, 1)}
}

func (s *Set) hold(l *Lease, w *window, run record.Run) {
	w.out, w.lease, w.phase = run, l, Acquired
	l.Runs = append(l.Runs, run)
	l.Records += len(run.Records)
}
