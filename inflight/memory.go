package inflight

import "github.com/sluicehq/sluice/record"

// Starving says whether the partition could hand out a batch sooner if more of it were fetched: nothing of it is out or
// waits for its next try, and what is pending, if anything, does not fill a batch.
func (s *Set) Starving(tp record.TopicPartition) bool {
	w := s.windows[tp]
	return w != nil && (w.phase == Idle || w.list == &s.partial)
}

// CommitPoint is the partition's lowest offset that is not settled, and whether it has a window.
func (s *Set) CommitPoint(tp record.TopicPartition) (point record.Offset, owned bool) {
	w := s.windows[tp]
	if w == nil {
		return 0, false
	}
	return w.commitPoint(), true
}

// Unshare copies what the partition has pending from an offset on, and what waits for its next try, into memory of its
// own, so that it no longer holds the fetch responses that they came in, and whatever else was in those. What is out is
// left alone: the function's call reads it. It returns the offset behind what was copied.
func (s *Set) Unshare(tp record.TopicPartition, from record.Offset) record.Offset {
	w := s.windows[tp]
	if w == nil {
		return from
	}
	c := copier{left: w.pendingBytes}
	for _, run := range w.retries {
		c.left += runBytes(run.Records)
	}
	for i := range w.retries {
		w.retries[i].Records = c.copy(w.retries[i].Records)
	}
	c.from = int64(from)
	for i := range w.queue {
		w.queue[i] = c.copy(w.queue[i])
	}
	return w.next
}

// Copy returns copies of records in memory of their own, as Unshare makes them.
func Copy(recs []*record.Record) []*record.Record {
	if len(recs) == 0 {
		return nil
	}
	c := copier{from: recs[0].Offset, left: runBytes(recs)}
	return c.copy(recs)
}

// copier copies into slabs, which go one by one as the records in them are settled.
type copier struct {
	from int64 // offset
	slab []byte
	left int64 // bytes that are still to come, at most
}

const slabBytes = 256 << 10

// copy returns recs with copies in place of those from the offset on. The records themselves are copied, too: the client
// makes those of a producer's batch in one piece, and the settled ones among them still point into the response.
func (c *copier) copy(recs []*record.Record) []*record.Record {
	if recs[len(recs)-1].Offset < c.from {
		return recs
	}
	own, all := make([]*record.Record, len(recs)), make([]record.Record, len(recs))
	for i, r := range recs {
		if r.Offset < c.from {
			own[i] = r
			continue
		}
		size := record.Bytes(r)
		if int64(cap(c.slab)-len(c.slab)) < size {
			c.slab = make([]byte, 0, max(size, min(slabBytes, c.left)))
		}
		all[i] = *r
		r = &all[i]
		r.Key, r.Value = c.clone(r.Key), c.clone(r.Value)
		for h := range r.Headers {
			r.Headers[h].Value = c.clone(r.Headers[h].Value)
		}
		own[i] = r
		c.left -= size
	}
	return own
}

// clone keeps nil and empty apart.
func (c *copier) clone(b []byte) []byte {
	if len(b) == 0 {
		if b == nil {
			return nil
		}
		return []byte{}
	}
	at := len(c.slab)
	c.slab = append(c.slab, b...)
	return c.slab[at:len(c.slab):len(c.slab)]
}
