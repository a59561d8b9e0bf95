package invoke

import (
	"sync"
	"testing"
)

func TestBuffersGiveRoom(t *testing.T) {
	b := NewBuffers(BuffersBytesDefault)
	for _, size := range []int{0, 1, 4095, 4096, 4097, 8192, 8193, 100_000, 6 << 20, 8<<20 - 1, 8 << 20, 8<<20 + 1, 20 << 20} {
		for range 2 { // the second comes out of the pool where the first was kept
			buf := b.Get(size)
			if len(buf) != 0 || cap(buf) < size {
				t.Errorf("Get(%d) has length %d, room %d", size, len(buf), cap(buf))
			}
			b.Put(buf)
		}
	}
}

func TestBuffersOfOddSizesServeSmallerRequests(t *testing.T) {
	b := NewBuffers(1 << 20)
	b.Put(make([]byte, 0, 12_000)) // grown by append: between two classes
	if buf := b.Get(8192); cap(buf) != 12_000 {
		t.Errorf("room %d, want the kept 12000", cap(buf))
	}
	b.Put(make([]byte, 0, 12_000))
	if buf := b.Get(12_000); cap(buf) < 12_000 {
		t.Errorf("room %d", cap(buf))
	}
}

func TestBuffersKeepNoMoreThanTheirLimit(t *testing.T) {
	b := NewBuffers(10_000)
	for range 5 {
		b.Put(make([]byte, 4096))
	}
	if got := b.Kept(); got != 8192 {
		t.Errorf("keeps %d bytes, want 8192", got)
	}
	b.Put(make([]byte, 100))
	b.Put(make([]byte, BufferBytesMax+1))
	b.Put(nil)
	if got := b.Kept(); got != 8192 {
		t.Errorf("keeps %d bytes, want 8192", got)
	}
	b.Get(1)
	b.Get(1)
	b.Get(1)
	if got := b.Kept(); got != 0 {
		t.Errorf("keeps %d bytes, want 0", got)
	}
}

func TestBuffersFromManyGoroutines(t *testing.T) {
	b := NewBuffers(1 << 20)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				buf := append(b.Get(1+(i*7919)%60_000), byte(g))
				if buf[0] != byte(g) {
					t.Error("a buffer is used twice")
				}
				b.Put(buf)
			}
		})
	}
	wg.Wait()
	if b.Kept() > 1<<20 {
		t.Errorf("keeps %d bytes", b.Kept())
	}
}
