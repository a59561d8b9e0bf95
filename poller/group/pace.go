package group

import (
	"time"

	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/record"
)

// paceWindow is over how long the partitions' pace is measured. It is longer than a fetch waits for records, so that a
// partition that had to wait for such a fetch is not taken for one that stands still.
const paceWindow = 2 * fetchWaitMax

// pace is how fast partitions settle their records, in bytes of memory over the last paceWindow. The caller holds the
// feed's mutex.
type pace struct {
	since time.Time
	then  map[record.TopicPartition]int64 // what had been settled at since
	last  map[record.TopicPartition]int64 // what was settled in the window before
}

// look begins another window if one is over.
func (p *pace) look(set *inflight.Set, now time.Time) {
	over := now.Sub(p.since)
	if over < paceWindow {
		return
	}
	then := make(map[record.TopicPartition]int64, set.Partitions())
	last := make(map[record.TopicPartition]int64, set.Partitions())
	set.Each(func(tp record.TopicPartition, _ int, _ int64) {
		then[tp] = cost(set.Settled(tp))
		if was, known := p.then[tp]; known && over < 2*paceWindow {
			last[tp] = then[tp] - was
		}
	})
	p.since, p.then, p.last = now, then, last
}

// stillAfter is how long a partition may go without progress and be taken for busy.
const stillAfter = time.Second

// of is what the partition settles in a paceWindow, at least; 0 while it stands still.
func (p *pace) of(set *inflight.Set, tp record.TopicPartition, now time.Time) int64 {
	was, known := p.then[tp]
	if !known || now.Sub(set.Moved(tp)) >= stillAfter {
		return 0
	}
	return max(p.last[tp], cost(set.Settled(tp))-was)
}
