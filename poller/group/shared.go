package group

import (
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/record"
)

// shared watches over fetch responses that are held for a few of their records. The records of an uncompressed fetch are
// pieces of the response that they came in, with those of other partitions: one partition that stands still would hold
// many times its own bytes. So it is noted when the records of each partition came, and where the oldest came long before
// the others, they are copied out. A record is copied once at most, and none as long as partitions move alike.
//
// Compressed batches are decompressed one by one, and hold only themselves.
type shared struct {
	total  int64 // payload admitted, ever
	looked int64 // total at the last look
	parts  map[record.TopicPartition]*stretch
}

// stretch is what is known of one partition's records that may be pieces of responses.
type stretch struct {
	// arrivals say when they came, oldest first.
	arrivals []arrival
	// copied is the offset behind what was copied, and own how many bytes of that are held at most; rest says that
	// something was out then, and may come back.
	copied record.Offset
	own    int64
	rest   bool
}

// arrival is records that came at about the same time.
type arrival struct {
	last  record.Offset // of the last one
	total int64         // what had been admitted before
}

// arrivalBytes is how much of a feed's records counts as having come together.
const arrivalBytes = 256 << 10

// admitted notes records of so many bytes.
func (s *shared) admitted(tp record.TopicPartition, recs []*record.Record, bytes int64) {
	before := s.total
	s.total += bytes
	if bytes == 0 || recs[0].Attrs.CompressionType() != 0 {
		return
	}
	p := s.parts[tp]
	if p == nil {
		if s.parts == nil {
			s.parts = make(map[record.TopicPartition]*stretch)
		}
		p = &stretch{}
		s.parts[tp] = p
	}
	last := record.Offset(recs[len(recs)-1].Offset)
	if n := len(p.arrivals); n > 0 && before-p.arrivals[n-1].total < arrivalBytes {
		p.arrivals[n-1].last = last
		return
	}
	p.arrivals = append(p.arrivals, arrival{last, before})
}

// forget is for a partition whose offsets go back.
func (s *shared) forget(tp record.TopicPartition) { delete(s.parts, tp) }

// part copies out what would hold half as much as the buffer beyond what the windows hold: so far healthy partitions may
// drift apart, at little cost. It looks each time that an eighth of the buffer has been admitted.
func (s *shared) part(set *inflight.Set, buffer int64) {
	if s.total-s.looked < buffer/8 {
		return
	}
	s.looked = s.total
	held := set.Bytes() // in responses
	for tp, p := range s.parts {
		point, owned := set.CommitPoint(tp)
		p.settled(point)
		_, bytes := set.Held(tp)
		if p.own = min(p.own, bytes); point >= p.copied {
			p.own = 0
		}
		held -= p.own
		if !owned || len(p.arrivals) == 0 && p.own == 0 && !p.rest {
			delete(s.parts, tp)
		}
	}
	oldest := s.total - held - buffer/2
	for tp, p := range s.parts {
		out := set.Out(tp)
		if len(p.arrivals) > 0 && p.arrivals[0].total < oldest || p.rest && !out {
			p.copied = set.Unshare(tp, p.copied)
			_, p.own = set.Held(tp)
			p.arrivals, p.rest = nil, out
		}
	}
}

// settled forgets what has been settled.
func (p *stretch) settled(point record.Offset) {
	for len(p.arrivals) > 0 && p.arrivals[0].last < point {
		p.arrivals = p.arrivals[1:]
	}
}
