package group

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// sized is a fetchSize that was told of batches, and what it asks for.
type sized struct {
	*fetchSize
	fetch, part int32
	updates     int
}

func newSized(buffer int64) *sized {
	s := &sized{}
	s.fetchSize = newFetchSize(buffer, func(fetch, partition int32) {
		s.fetch, s.part = fetch, partition
		s.updates++
	})
	s.fetch, s.part = s.ask()
	return s
}

func (s *sized) read(broker int32, wire, memory int) {
	s.OnFetchBatchRead(kgo.BrokerMetadata{NodeID: broker}, "t", 0, kgo.FetchBatchMetrics{CompressedBytes: wire, UncompressedBytes: memory})
}

const fetchOf16 = 4 << 20 // of a buffer of 16 MiB

func TestTheFirstFetchIsSmall(t *testing.T) {
	s := newSized(BufferBytesDefault)
	if s.fetch != fetchOf16/factorMax || s.part != 1<<20/factorMax {
		t.Errorf("it asks for %d, and %d of a partition", s.fetch, s.part)
	}
}

func TestFetchesShrinkWithCompression(t *testing.T) {
	s := newSized(BufferBytesDefault)
	factor := func() int { return int(fetchOf16/float64(s.fetch) + 0.5) }
	s.read(1, 16<<10, 16<<10)
	if factor() != 1 {
		t.Errorf("the first records were not compressed: %d", factor())
	}
	s.read(1, 1<<20, 20<<20)
	if factor() != 20 {
		t.Errorf("after a rise: %d", factor())
	}
	updates := s.updates
	s.read(1, 1<<20, 22<<20)
	s.read(1, 1<<10, 1<<20)
	if factor() != 20 || s.updates != updates {
		t.Errorf("after a little more: %d", factor())
	}
	s.read(1, 1<<20, 1<<20)
	if factor() != 11 {
		t.Errorf("it falls by halves: %d", factor())
	}
	for range 10 {
		s.read(1, 1<<20, 1<<20)
	}
	if factor() != 1 {
		t.Errorf("without compression it stays at %d", factor())
	}
}

func TestBrokersShareAFetch(t *testing.T) {
	s := newSized(BufferBytesDefault)
	for broker := range int32(4) {
		s.read(broker, 16<<10, 16<<10)
	}
	if s.fetch != fetchOf16/4 {
		t.Errorf("of one of four brokers: %d", s.fetch)
	}
}

func TestManyPartitionsHaveSmallParts(t *testing.T) {
	s := newSized(BufferBytesDefault)
	s.read(1, 16<<10, 16<<10)
	for partitions, want := range map[int]int32{0: 1 << 20, 8: 1 << 20, 64: 256 << 10, 10_000: partitionShareMin} {
		if s.partitions(partitions, BufferBytesDefault); s.part != want {
			t.Errorf("of %d partitions: %d, want %d", partitions, s.part, want)
		}
	}
	small := newSized(BufferBytesMin)
	small.partitions(1, BufferBytesMin)
	if _, part := small.ask(); int64(part) > FetchBytes(BufferBytesMin)/factorMax {
		t.Errorf("a partition brings more than a fetch: %d", part)
	}
}
