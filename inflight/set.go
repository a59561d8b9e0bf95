package inflight

import (
	"time"

	"github.com/sluicehq/sluice/record"
)

// RecordOverhead is what a fetched record takes beside its payload: the client's record, its headers and our entry
// (294–370 bytes were measured with one header).
const RecordOverhead = 320

// Limits bound the batches of one mapping.
type Limits struct {
	// BatchRecords is the most records in a batch, at least 1.
	BatchRecords int
	// BatchBytes is the most bytes of an encoded event. A single larger record still makes a batch of its own,
	// for the poller to refuse.
	BatchBytes int64
	// BatchingWindow is how long the oldest available record waits for a batch to fill; 0 means not at all.
	BatchingWindow time.Duration
}

// Sizes tell what records will take in an encoded event.
type Sizes struct {
	// Event is the size of an event without runs.
	Event int
	// Run is what a run of the partition adds, without its records.
	Run func(record.TopicPartition) int
	// Record is what a record adds.
	Record func(*record.Record) int
}

// Set is the windows of one feed: one per assigned partition. Not safe for concurrent use.
type Set struct {
	limits Limits
	sizes  Sizes

	windows map[record.TopicPartition]*window
	// full windows can fill a batch alone, partial ones cannot; both are FIFO by the time they became ready.
	full, partial list
	waiting       waiting
	// records and bytes count what is admitted and not settled.
	records int
	bytes   int64
	leases  int
	nextID  uint64
	retried bool  // the last lease was of a failed run
	share   int64 // see Share
}

// NewSet returns a set without partitions.
func NewSet(limits Limits, sizes Sizes) *Set {
	return &Set{limits: limits, sizes: sizes, windows: make(map[record.TopicPartition]*window)}
}

// Assign opens the window of a partition whose first record to read is start. committed says whether the group
// has a committed offset there; if not, Commits lists start at once, so that a restart finds it. A window that
// is still there is removed first: its leases are stale from now on.
func (s *Set) Assign(tp record.TopicPartition, start record.Offset, committed bool, now time.Time) {
	s.Remove(tp)
	w := &window{
		tp: tp, next: start, committed: start, epoch: -1, moved: now, heapIndex: -1,
		runOverhead: s.sizes.Run(tp),
	}
	if !committed {
		w.committed = uncommitted
	}
	s.windows[tp] = w
}

// uncommitted is a committed offset below every real one: the next Commits lists the partition.
const uncommitted = record.Offset(-1)

// Admit takes over records fetched from the partition, in offset order; the slice belongs to the window
// afterwards. Records of a partition that is not owned are ignored: its next owner reads them.
func (s *Set) Admit(tp record.TopicPartition, recs []*record.Record, now time.Time) {
	w := s.windows[tp]
	if w == nil || w.phase == Draining || len(recs) == 0 {
		return
	}
	before, pending, bytes := w.commitPoint(), w.pending, w.pendingBytes
	if before == w.next {
		w.moved = now // work appears in an idle window
	}
	w.admit(recs)
	s.records += w.pending - pending
	s.bytes += w.pendingBytes - bytes
	if w.list != nil {
		w.list.records += w.pending - pending
		w.list.bytes += w.pendingBytes - bytes
	}
	if pending == 0 {
		w.since = now
	}
	w.advanced(now, before)
	if w.list == &s.partial && s.fills(w.pending, w.pendingBytes) {
		s.unlist(w)
	}
	if w.list == nil {
		s.relist(w)
	}
}

// Pass says that what was fetched of the partition below an offset, and was not admitted, is settled: filters have dropped it.
// It is called after Admit of what they left; epoch is the leader epoch of the last record of both.
func (s *Set) Pass(tp record.TopicPartition, to record.Offset, epoch int32, now time.Time) {
	w := s.windows[tp]
	if w == nil || w.phase == Draining {
		return
	}
	before := w.commitPoint()
	w.pass(to, epoch)
	w.advanced(now, before)
}

// relist puts a window where its state belongs: a ready list, the waiting heap, or nowhere.
func (s *Set) relist(w *window) {
	switch {
	case w.phase == Draining:
	case w.lease != nil:
		w.phase = Acquired
	case len(w.retries) > 0:
		w.phase = Waiting
		if w.heapIndex < 0 {
			s.waiting.add(w)
		}
	case w.pending == 0:
		w.phase = Idle
	default:
		w.phase = Ready
		if s.fills(w.pending, w.pendingBytes) {
			s.full.push(w)
		} else {
			s.partial.push(w)
		}
	}
}

// Share says how much a partition may hold before the feed fetches no more of it, in bytes of memory with RecordOverhead
// for each record: then a batch need not wait for what cannot come. 0 is no such bound.
func (s *Set) Share(bytes int64) { s.share = bytes }

// fills says whether so much pending work makes a whole batch, or as much of one as there can be. Encoded bytes are
// estimated here (base64 and a typical record's members); what a batch really takes is measured record by record when it
// is made.
func (s *Set) fills(records int, bytes int64) bool {
	const perRecord = 120
	return records >= s.limits.BatchRecords || bytes/3*4+int64(records)*perRecord >= s.limits.BatchBytes ||
		s.share > 0 && bytes+int64(records)*RecordOverhead >= s.share
}

func (s *Set) unlist(w *window) {
	if w.list != nil {
		w.list.remove(w)
	}
}

// Drain stops handing out records of the partition. Pending records are forgotten: the next owner reads them
// from the commit point. Records that are out or wait for a retry still hold the commit point down.
func (s *Set) Drain(tp record.TopicPartition) {
	w := s.windows[tp]
	if w == nil || w.phase == Draining {
		return
	}
	s.unlist(w)
	s.waiting.remove(w)
	w.phase = Draining
	if len(w.queue) > 0 {
		first := w.queue[0][0]
		w.next, w.epoch = record.Offset(first.Offset), first.LeaderEpoch
	}
	s.records -= w.pending
	s.bytes -= w.pendingBytes
	w.queue, w.pending, w.pendingBytes = nil, 0, 0
}

// Out says whether a lease holds the partition.
func (s *Set) Out(tp record.TopicPartition) bool {
	w := s.windows[tp]
	return w != nil && w.lease != nil
}

// Remove forgets the partition. A lease that holds records of it is stale: settling it changes nothing.
func (s *Set) Remove(tp record.TopicPartition) {
	w := s.windows[tp]
	if w == nil {
		return
	}
	s.unlist(w)
	s.waiting.remove(w)
	s.records -= w.pending + w.heldRecords
	s.bytes -= w.pendingBytes + w.heldBytes
	delete(s.windows, tp)
}

// Settle ends a lease. retry[i] is what has to come again of the lease's i-th run, in offset order; every other
// record of that run is settled. A nil or short retry settles the rest whole. It returns how many records were
// settled and how many stale: records of partitions that are not held by this lease any more, whose result
// counts for nothing here.
func (s *Set) Settle(l *Lease, retry [][]record.Run, now time.Time) (settled, stale int) {
	if l.done {
		panic("inflight: lease settled twice")
	}
	l.done = true
	s.leases--
	for i := range l.Runs {
		run := &l.Runs[i]
		w := s.windows[run.TopicPartition]
		if w == nil || w.lease != l {
			stale += len(run.Records)
			continue
		}
		var again []record.Run
		if i < len(retry) {
			again = retry[i]
		}
		before, records, bytes := w.commitPoint(), w.heldRecords, w.heldBytes
		w.settled(again)
		s.records += w.heldRecords - records
		s.bytes += w.heldBytes - bytes
		settled += records - w.heldRecords
		w.doneRecords += records - w.heldRecords
		w.doneBytes += bytes - w.heldBytes
		w.since = now
		w.advanced(now, before)
		s.relist(w)
	}
	return settled, stale
}
