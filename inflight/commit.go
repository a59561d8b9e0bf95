package inflight

import (
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/record"
)

// Commit is a commit point that has moved.
type Commit struct {
	record.TopicPartition
	// Offset is the next record to read: everything below is settled.
	Offset record.Offset
	// Epoch is the leader epoch of the record at Offset, or of the last one before it where there is none yet; -1 if
	// unknown.
	Epoch int32
}

// Commits lists the partitions whose commit point is ahead of what was last committed, and calls them
// committed. If the commit fails, Uncommitted takes them back. Draining partitions are included.
func (s *Set) Commits(dst []Commit) []Commit {
	for _, w := range s.windows {
		if p, epoch := w.commit(); p > w.committed {
			dst = append(dst, Commit{w.tp, p, epoch})
			w.committed = p
		}
	}
	return dst
}

// Uncommitted says that the commit did not reach the broker: the next Commits lists the partitions again.
func (s *Set) Uncommitted(commits []Commit) {
	for _, c := range commits {
		if w := s.windows[c.TopicPartition]; w != nil && w.committed <= c.Offset {
			w.committed = uncommitted
		}
	}
}

// Unstarted says whether the partition's start was not committed yet, or a commit of it failed.
func (s *Set) Unstarted(tp record.TopicPartition) bool {
	w := s.windows[tp]
	return w != nil && w.committed == uncommitted
}

// Skip says that the partition holds nothing between the end of what was admitted and the given offset (an
// emptied batch at the end of a compacted log, an aborted transaction). It changes nothing where records are
// pending or out, or where the window is already past it, and says whether it did.
func (s *Set) Skip(tp record.TopicPartition, from, to record.Offset, now time.Time) bool {
	w := s.windows[tp]
	if w == nil || w.phase != Idle || w.next != from || to <= from {
		return false
	}
	w.next, w.epoch, w.moved = to, -1, now // of what epoch it was is not known; by that before it the log would seem cut
	return true
}

// Records is how many admitted records are not settled yet; Bytes their payload.
func (s *Set) Records() int { return s.records }

// Bytes is the payload of the admitted records that are not settled yet.
func (s *Set) Bytes() int64 { return s.bytes }

// Leases is how many batches are out.
func (s *Set) Leases() int { return s.leases }

// Partitions is how many partitions have a window.
func (s *Set) Partitions() int { return len(s.windows) }

// State describes one partition's window.
type State struct {
	record.TopicPartition
	Phase Phase
	// CommitPoint is the lowest offset that is not settled; Next the end of what was admitted.
	CommitPoint, Next record.Offset
	// Records and Bytes count what is admitted and not settled.
	Records int
	Bytes   int64
	// Moved is when the commit point last advanced, or when work appeared.
	Moved time.Time
	// Head is the run that holds the partition up: out, or waiting for its next try; nil if there is none.
	Head *record.Run
}

// States describes all windows, by topic and partition.
func (s *Set) States() []State {
	states := make([]State, 0, len(s.windows))
	for _, w := range s.windows {
		states = append(states, w.state())
	}
	slices.SortFunc(states, func(a, b State) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		return int(a.Partition) - int(b.Partition)
	})
	return states
}

func (w *window) state() State {
	st := State{
		TopicPartition: w.tp, Phase: w.phase, CommitPoint: w.commitPoint(), Next: w.next,
		Records: w.pending + w.heldRecords, Bytes: w.pendingBytes + w.heldBytes, Moved: w.moved,
	}
	if w.lease != nil {
		run := w.out
		st.Head = &run
	} else if len(w.retries) > 0 {
		run := w.retries[0]
		st.Head = &run
	}
	return st
}

// Next is the offset behind everything that was admitted of the partition, and whether it has a window that still
// hands out records.
func (s *Set) Next(tp record.TopicPartition) (next record.Offset, owned bool) {
	w := s.windows[tp]
	if w == nil || w.phase == Draining {
		return 0, false
	}
	return w.next, true
}

// Held is what one partition has admitted and not settled; 0 without a window.
func (s *Set) Held(tp record.TopicPartition) (records int, bytes int64) {
	if w := s.windows[tp]; w != nil {
		return w.pending + w.heldRecords, w.pendingBytes + w.heldBytes
	}
	return 0, 0
}

// Settled is what of one partition was settled since it was assigned; 0 without a window.
func (s *Set) Settled(tp record.TopicPartition) (records int, bytes int64) {
	if w := s.windows[tp]; w != nil {
		return w.doneRecords, w.doneBytes
	}
	return 0, 0
}

// Moved is when the commit point of a partition advanced last, or when it got work after it had none; zero without a window.
func (s *Set) Moved(tp record.TopicPartition) time.Time {
	if w := s.windows[tp]; w != nil {
		return w.moved
	}
	return time.Time{}
}

// Each calls f with every partition that still hands out records and what it holds, in no order.
func (s *Set) Each(f func(tp record.TopicPartition, records int, bytes int64)) {
	for tp, w := range s.windows {
		if w.phase != Draining {
			f(tp, w.pending+w.heldRecords, w.pendingBytes+w.heldBytes)
		}
	}
}
