package ledger

import (
	"slices"
	"time"

	"github.com/sluicehq/sluice/record"
)

// flag says something about a record.
type flag uint8

const (
	produced flag = 1 << iota
	deadLettered
	dropped
	corrupt // delivered with a checksum that is not the produced one's
	noted   // overtaken has it: the frontier may pass
)

// entry is one offset of a partition.
type entry struct {
	sum        uint32
	deliveries uint32
	successes  uint16
	open       uint16 // deliveries that have begun and not ended
	flags      flag
}

// partition has an entry for each offset from 0 on, whether it was produced (as far as known) or not.
type partition struct {
	entries  []entry
	progress Progress
	// frontier is the lowest offset that is neither settled nor overtaken. It only rises, so that each offset is
	// looked at once, however often later ones are delivered.
	frontier  record.Offset
	overtaken map[record.Offset]overtaking
	unsorted  int64                       // batches whose records were not in the order of offsets
	givenUp   map[record.Offset]time.Time // when first
}

// overtaking is the first delivery that began while an earlier record was not settled.
type overtaking struct {
	by       record.Offset
	at       time.Time
	inFlight bool // the overtaken record was being delivered at that moment
}

func (p *partition) entry(offset record.Offset) *entry {
	check(offset)
	if n := int(offset) + 1 - len(p.entries); n > 0 {
		p.entries = append(p.entries, make([]entry, n)...)
	}
	return &p.entries[offset]
}

// compare holds a delivered checksum against the produced one, if that is known.
func (p *partition) compare(offset record.Offset, sum uint32) {
	e := p.entry(offset)
	if e.flags&produced != 0 && e.sum != 0 && e.sum != sum {
		e.flags |= corrupt
	}
}

// tidy returns the offsets in rising order. A batch that does not have them so is out of order in itself.
func (p *partition) tidy(offsets []record.Offset) []record.Offset {
	if slices.IsSorted(offsets) {
		return offsets
	}
	p.unsorted++
	return slices.Sorted(slices.Values(offsets))
}

// overtake notes every unsettled offset before the batch's last that is not in the batch, unless it was noted before.
// Offsets that are no records (markers, gaps) are noted too: whether they were produced is known later.
func (p *partition) overtake(at time.Time, batch []record.Offset) {
	last := batch[len(batch)-1]
	p.advance()
	for offset := p.frontier; offset < last; offset++ {
		e := p.entry(offset)
		if e.successes > 0 || e.flags&noted != 0 {
			continue
		}
		next, in := slices.BinarySearch(batch, offset)
		if in {
			continue
		}
		p.overtaken[offset] = overtaking{by: batch[next], at: at, inFlight: e.open > 0}
		e.flags |= noted
	}
}

// advance moves the frontier over what is settled or noted as overtaken.
func (p *partition) advance() {
	for int(p.frontier) < len(p.entries) {
		e := p.entries[p.frontier]
		if e.successes == 0 && e.flags&noted == 0 {
			return
		}
		p.frontier++
	}
}

// excused reports whether an overtaken record had been given up when it was overtaken. Dead letters carry their time
// in milliseconds. Without a time, it counts that it was not in flight.
func (p *partition) excused(offset record.Offset, o overtaking) bool {
	at, ok := p.givenUp[offset]
	if !ok {
		return false
	}
	if at.IsZero() {
		return !o.inFlight
	}
	return !at.Truncate(time.Millisecond).After(o.at)
}
