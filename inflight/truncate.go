package inflight

import (
	"sort"
	"time"

	"github.com/sluicehq/sluice/record"
)

// Truncate says that the partition's log was cut at the offset and goes on from there: records from there on that were
// not handed out yet are forgotten, and what is admitted next begins there. Everything below stays as it is. A run that
// is out, or waits for its next try, is carried to its end, also where it reaches over the cut: so the partition is
// never held twice, and nothing below the cut is passed. Where the group has committed beyond the cut, the next Commits
// takes that back. It changes nothing where nothing was admitted from the offset on, or nothing is handed out any more.
func (s *Set) Truncate(tp record.TopicPartition, at record.Offset, now time.Time) {
	w := s.windows[tp]
	if w == nil || w.phase == Draining || at >= w.next {
		return
	}
	s.unlist(w)
	records, bytes := w.cut(at)
	s.records -= records
	s.bytes -= bytes
	w.next, w.moved = at, now
	if w.committed > at {
		w.committed = uncommitted
	}
	s.relist(w)
}

// cut drops the pending records from the offset on, and says how many they were.
func (w *window) cut(at record.Offset) (records int, bytes int64) {
	keep := 0
	for ; keep < len(w.queue); keep++ {
		c := w.queue[keep]
		n := sort.Search(len(c), func(i int) bool { return record.Offset(c[i].Offset) >= at })
		records += len(c) - n
		bytes += runBytes(c[n:])
		w.queue[keep] = c[:n:n]
		if n == 0 {
			break
		}
	}
	for _, c := range w.queue[min(keep+1, len(w.queue)):] {
		records += len(c)
		bytes += runBytes(c)
	}
	clear(w.queue[keep:])
	w.queue = w.queue[:keep]
	w.pending -= records
	w.pendingBytes -= bytes
	return records, bytes
}
