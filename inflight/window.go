package inflight

import (
	"fmt"
	"time"

	"github.com/sluicehq/sluice/record"
)

// Phase is what a partition's window is doing.
type Phase uint8

// The phases of a window.
const (
	// Idle: nothing pending, nothing out. Entered at assignment and when the last record settles.
	Idle Phase = iota
	// Ready: records are pending and may be acquired. Entered by Admit, or by Settle with records pending.
	Ready
	// Acquired: a lease holds the partition. Entered by Acquire, left by Settle.
	Acquired
	// Waiting: failed records wait for their next try; pending ones wait behind them. Entered by Settle.
	Waiting
	// Draining: the partition is being given up; nothing is acquired any more. Entered by Drain, left by Remove.
	Draining
)

// String returns the phase as status shows it.
func (p Phase) String() string {
	return [...]string{"idle", "ready", "acquired", "waiting", "draining"}[p]
}

// chunk is a stretch of fetched records without control records.
type chunk []*record.Record

// window is the in-flight window of one partition, for one assignment of it.
type window struct {
	tp    record.TopicPartition
	phase Phase
	// next is the offset behind everything admitted, control records and gaps included; epoch the leader epoch of what
	// stands right before it, -1 if unknown.
	next  record.Offset
	epoch int32
	// committed is the commit point that was last handed to the committer.
	committed record.Offset

	// queue holds the pending records in offset order; pending and pendingBytes count them.
	queue        []chunk
	pending      int
	pendingBytes int64
	// since is when the oldest pending record became available to a batch.
	since time.Time

	// out is the run that a lease holds, lease whose it is.
	out   record.Run
	lease *Lease
	// retries are the runs that failed and come again, one after the other, before anything pending.
	retries []record.Run
	// heldRecords and heldBytes count out and retries together.
	heldRecords int
	heldBytes   int64
	// doneRecords and doneBytes count what was settled since the assignment.
	doneRecords int
	doneBytes   int64

	// moved is when the commit point last advanced, or when work appeared in an idle window.
	moved time.Time
	// runOverhead is what a run of this partition adds to an encoded event.
	runOverhead int

	prev, succ *window // links of the ready list that the window is in
	list       *list
	heapIndex  int // place among the waiting windows; -1 if not there
}

// commitPoint is the lowest offset that is not settled: the offset to commit.
func (w *window) commitPoint() record.Offset {
	point, _ := w.commit()
	return point
}

// commit is the commit point and its leader epoch: that of the record there, or where there is none yet, of what stands before
// it. What was passed over between the last settled record and the commit point may be of a later epoch than the former: by
// that one the log would seem cut at the next start.
func (w *window) commit() (point record.Offset, epoch int32) {
	point, epoch = w.next, w.epoch
	lower := func(r *record.Record) {
		if o := record.Offset(r.Offset); o < point {
			point, epoch = o, r.LeaderEpoch
		}
	}
	if len(w.queue) > 0 {
		lower(w.queue[0][0])
	}
	for i := range w.retries {
		lower(w.retries[i].Records[0])
	}
	if w.lease != nil {
		lower(w.out.Records[0])
	}
	return point, epoch
}

// admit appends fetched records. Control records and whatever lies below next only move the window on.
func (w *window) admit(recs []*record.Record) {
	start := 0
	flush := func(end int) {
		if end > start {
			w.queue = append(w.queue, chunk(recs[start:end:end]))
		}
		start = end + 1
	}
	for i, r := range recs {
		if record.Offset(r.Offset) < w.next || r.Attrs.IsControl() {
			flush(i)
		} else {
			w.pending++
			w.pendingBytes += record.Bytes(r)
		}
		w.pass(record.Offset(r.Offset)+1, r.LeaderEpoch)
	}
	flush(len(recs))
}

// pass moves the end of what was admitted on, over something of the epoch.
func (w *window) pass(to record.Offset, epoch int32) {
	if to > w.next {
		w.next, w.epoch = to, epoch
	}
}

// take removes records from the front of the queue while the batch has room for them. There is room for the first one, by
// what gather has looked at, and that of an empty batch is taken whatever its size. It returns the run with its payload and
// encoded bytes.
func (w *window) take(room room, size func(*record.Record) int) (run record.Run, bytes, encoded int64) {
	run.TopicPartition = w.tp
	encoded = int64(w.runOverhead)
	n := 0
	for w.pending > n {
		r := w.at(n)
		s := int64(size(r))
		if n+1 > room.records || (encoded+s > room.bytes && (n > 0 || !room.empty)) {
			break
		}
		encoded += s
		bytes += record.Bytes(r)
		n++
	}
	run.Records = w.pop(n)
	w.pending -= n
	w.pendingBytes -= bytes
	return run, bytes, encoded
}

// at returns the i-th pending record. Batches rarely span more than two chunks.
func (w *window) at(i int) *record.Record {
	for _, c := range w.queue {
		if i < len(c) {
			return c[i]
		}
		i -= len(c)
	}
	panic("inflight: pending count exceeds the queue")
}

// pop removes the first n pending records. Where they lie in one chunk, which is the rule, nothing is copied.
func (w *window) pop(n int) []*record.Record {
	if first := w.queue[0]; n <= len(first) {
		if n == len(first) {
			w.dropChunk()
		} else {
			w.queue[0] = first[n:]
		}
		return first[:n:n]
	}
	recs := make([]*record.Record, 0, n)
	for len(recs) < n {
		c := w.queue[0]
		k := min(n-len(recs), len(c))
		recs = append(recs, c[:k]...)
		if k == len(c) {
			w.dropChunk()
		} else {
			w.queue[0] = c[k:]
		}
	}
	return recs
}

func (w *window) dropChunk() {
	w.queue[0] = nil
	w.queue = w.queue[1:]
}

// settled replaces the run that was out by what has to be retried of it.
func (w *window) settled(retry []record.Run) {
	if len(retry) > 0 {
		w.retries = append(append(make([]record.Run, 0, len(retry)+len(w.retries)), retry...), w.retries...)
	}
	w.out, w.lease = record.Run{}, nil
	w.heldRecords, w.heldBytes = 0, 0
	for i := range w.retries {
		w.heldRecords += len(w.retries[i].Records)
		w.heldBytes += runBytes(w.retries[i].Records)
	}
}

// advanced notes a moved commit point, for the watch over progress.
func (w *window) advanced(now time.Time, before record.Offset) {
	after := w.commitPoint()
	if after < before {
		panic(fmt.Sprintf("inflight: commit point of %s went back from %d to %d", w.tp, before, after))
	}
	if after > before {
		w.moved = now
	}
}

func (w *window) notBefore() time.Time { return w.retries[0].Retry.NotBefore }

func runBytes(recs []*record.Record) int64 {
	var n int64
	for _, r := range recs {
		n += record.Bytes(r)
	}
	return n
}
