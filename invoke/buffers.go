package invoke

import (
	"math/bits"
	"sync"
)

// Buffers keeps the memory of events and responses between invocations, in size classes of powers of two from
// BufferBytesMin to BufferBytesMax. What it keeps is bounded by the limit given to NewBuffers, whatever goes in;
// what is in use is bounded by those who use it. It is safe for concurrent use.
type Buffers struct {
	mu    sync.Mutex
	max   int
	kept  int
	class [bufferClasses][][]byte
}

// The bounds of what Buffers keeps. A longer buffer (a mapping with maximumBatchBytes raised) is made anew each time.
const (
	BufferBytesMin = 1 << 12
	BufferBytesMax = 1 << 23
	// BuffersBytesDefault is a sensible limit for NewBuffers: ten events of Lambda's size, or thousands of small
	// ones.
	BuffersBytesDefault = 64 << 20

	bufferClasses = 12 // 4 KiB, 8 KiB, … 8 MiB
)

// NewBuffers returns a pool that keeps at most bytesMax bytes while they are not in use; 0 keeps nothing.
func NewBuffers(bytesMax int) *Buffers { return &Buffers{max: bytesMax} }

// Get returns an empty slice with room for at least size bytes. Its contents beyond length 0 are undefined.
func (b *Buffers) Get(size int) []byte {
	c := classFor(size)
	if c >= bufferClasses {
		return make([]byte, 0, size)
	}
	b.mu.Lock()
	if list := b.class[c]; len(list) > 0 {
		buf := list[len(list)-1]
		list[len(list)-1] = nil
		b.class[c] = list[:len(list)-1]
		b.kept -= cap(buf)
		b.mu.Unlock()
		return buf[:0]
	}
	b.mu.Unlock()
	return make([]byte, 0, BufferBytesMin<<c)
}

// Put takes buf back: the caller, and whoever it passed buf to, must not touch it afterwards. Any slice will do; one
// that has no class or no room is left to the garbage collector.
func (b *Buffers) Put(buf []byte) {
	if cap(buf) < BufferBytesMin || cap(buf) > BufferBytesMax {
		return
	}
	c := bits.Len(uint(cap(buf))/BufferBytesMin) - 1 // the class whose requests it can serve
	b.mu.Lock()
	if b.kept+cap(buf) <= b.max {
		b.class[c] = append(b.class[c], buf)
		b.kept += cap(buf)
	}
	b.mu.Unlock()
}

// Kept is the number of bytes that the pool keeps at the moment.
func (b *Buffers) Kept() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept
}

// classFor is the smallest class with room for size bytes.
func classFor(size int) int {
	if size <= BufferBytesMin {
		return 0
	}
	return bits.Len(uint(size-1) / BufferBytesMin)
}
