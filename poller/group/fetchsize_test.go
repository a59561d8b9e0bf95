package group

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestFetchesShrinkWithCompression(t *testing.T) {
	var s fetchSize
	read := func(wire, memory int) (float64, bool) {
		s.OnFetchBatchRead(kgo.BrokerMetadata{}, "t", 0, kgo.FetchBatchMetrics{CompressedBytes: wire, UncompressedBytes: memory})
		return s.next()
	}
	if f, changed := read(1000, 1000); f != factorStart || changed {
		t.Errorf("after little: %v %v", f, changed)
	}
	if f, changed := read(1<<20, 20<<20); !changed || f < 19 || f > 21 {
		t.Errorf("after a rise: %v %v", f, changed)
	}
	if f, changed := read(1<<20, 22<<20); changed || f < 19 || f > 21 {
		t.Errorf("after a little more: %v %v", f, changed)
	}
	for range 10 {
		read(1<<20, 1<<20)
	}
	if f, _ := s.next(); f > 1.7 {
		t.Errorf("without compression it stays at %v", f)
	}
}
