package memory

import (
	"cmp"
	"slices"

	"github.com/sluicehq/sluice/poller/group"
)

// The terms of the formula in docs/MEMORY.md.
const (
	// Base is the process without mappings: its code, Go's runtime, metrics and the admin API.
	Base = 32 << 20
	// PerMapping is an enabled mapping that has nothing to do: its clients, goroutines and series.
	PerMapping = 1 << 20
	// collector is how much larger than what is in use Go lets its heap grow before it collects (GOGC=100).
	collector = 2
	// outside is what Go's own limit does not count: the program's code and data.
	outside = 16 << 20
	// eventsKeptMax and eventsKeptShare bound the events' memory that is kept for reuse.
	eventsKeptMax   = 64 << 20
	eventsKeptShare = 16
)

// Load is what one enabled mapping may ask of memory.
type Load struct {
	// Slots is the most invocations at once: pollers × concurrency, or what the function allows if that is less.
	Slots int
	// EventBytes is the most bytes of one event.
	EventBytes int64
	// ResponseBytes is what a response takes in memory; 0 where responses are not read.
	ResponseBytes int64
	// DeadLetters says that there is an on-failure destination: it may hold one batch more.
	DeadLetters bool
}

// Plan is a limit that has been divided.
type Plan struct {
	// Limit is what was divided, in bytes.
	Limit int64
	// Buffers are the fetch buffers of the mappings, in the order of the loads: group.BufferBytesMin to
	// group.BufferBytesDefault.
	Buffers []int64
	// EventsKept bounds the memory of events that is kept between invocations.
	EventsKept int
	// GoLimit is the limit for Go's runtime.
	GoLimit int64
	// Needs is what the process takes with all buffers full and events that are small beside them, and Compressed the same
	// where producers compress; Most is what it takes with the largest events in all slots. They count garbage that is not
	// collected yet.
	Needs, Compressed, Most int64
	// Least is the lowest limit that these loads fit into.
	Least int64
}

// Fits says whether the loads fit into the limit. If not, every buffer has its least size.
func (p *Plan) Fits() bool { return p.Limit >= p.Least }

// Divide makes shares of a limit. Every load gets the same, but nobody more than it can use; what is left over goes to
// the others.
func Divide(limit int64, loads []Load) *Plan {
	p := &Plan{
		Limit: limit, Buffers: make([]int64, len(loads)), GoLimit: max(limit-outside, limit/2),
		EventsKept: int(min(eventsKeptMax, limit/eventsKeptShare)),
	}
	fixed := Base + PerMapping*int64(len(loads))
	p.Needs, p.Compressed, p.Most, p.Least = fixed, fixed, fixed, fixed
	for i := range loads {
		p.Least += collector * loads[i].uses(group.BufferBytesMin)
	}
	// Everybody has the least buffer; what is left is shared.
	left := max(0, (limit-p.Least)/collector)
	for i, at := range byUse(loads) {
		l := &loads[at]
		least := l.uses(group.BufferBytesMin)
		b := l.buffer(least + left/int64(len(loads)-i))
		p.Buffers[at] = b
		left -= l.uses(b) - least
		p.Needs += collector * fetched(b)
		p.Compressed += collector * fetchedCompressed(b)
		p.Most += collector * l.uses(b)
	}
	return p
}

// byUse lists the loads by what they can use beyond the least, the least first.
func byUse(loads []Load) []int {
	order := make([]int, len(loads))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(loads[a].more(), loads[b].more())
	})
	return order
}

// more is what the largest buffer uses beyond the least.
func (l *Load) more() int64 { return l.uses(group.BufferBytesDefault) - l.uses(group.BufferBytesMin) }

// buffer is the largest buffer with which the load stays within share bytes in use.
func (l *Load) buffer(share int64) int64 {
	low, high := int64(group.BufferBytesMin), int64(group.BufferBytesDefault)
	const step = 64 << 10
	for low+step <= high {
		if middle := low + (high-low)/2/step*step + step; l.uses(middle) <= share {
			low = middle
		} else {
			high = middle - step
		}
	}
	return low
}

// uses is the most that the load has in use with a buffer of b bytes.
func (l *Load) uses(b int64) int64 {
	slots := int64(l.Slots)
	n := fetched(b) + min(slots*sizeClass(l.EventBytes), eventsOf(b)) + min(slots*l.ResponseBytes, responsesOf(b))
	if l.DeadLetters {
		n += min(l.EventBytes, b)
	}
	return n
}

// fetched is what a buffer of b bytes holds in memory when it is full: the records in it with what they take beside their
// payload, the fetches that are on their way to it, and the rest of the responses that its records are pieces of. Both
// factors were measured (docs/MEMORY.md). Compressed records hold no more than the batch of the producer that they were in.
func fetched(b int64) int64 { return 3 * b }

// fetchedCompressed is the same where producers compress.
func fetchedCompressed(b int64) int64 { return 2 * b }

// eventsOf bounds the events of all slots: what they carry lies in the buffer, and takes 4/3 of it as base64, in memory
// whose size is rounded up by half on average.
func eventsOf(b int64) int64 { return 2 * b }

// responsesOf bounds the responses of all slots: each names records that lie in the buffer, where a record takes more than
// twice what its name does.
func responsesOf(b int64) int64 { return b / 2 }

// sizeClass is what an event's memory is rounded up to (invoke.Buffers).
func sizeClass(n int64) int64 {
	class := int64(4 << 10)
	for class < n && class < 8<<20 {
		class *= 2
	}
	return max(class, n)
}
