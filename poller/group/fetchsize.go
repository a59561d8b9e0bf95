package group

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// fetchSize keeps what fetches bring within their bounds in memory: Kafka bounds a fetch as it is on the wire, and a well
// compressed one may be tens of times as large when it is decompressed. The client tells it of every batch that it has
// read, before it fetches again.
type fetchSize struct {
	// update tells the client how much to ask for: of one broker, and of one partition, in bytes on the wire.
	update func(fetch, partition int32)

	mu           sync.Mutex
	fetch        int64 // what all brokers together may bring, in bytes of memory
	partition    int64 // what a partition may bring
	wire, memory int64 // bytes fetched since the last look
	// factor is how much smaller than in memory fetches are asked for on the wire.
	factor  float64
	brokers map[int32]bool // that records have come from
}

var _ kgo.HookFetchBatchRead = (*fetchSize)(nil)

const (
	// overheadOnWire is what a record takes in memory beyond its bytes in the batch.
	overheadOnWire = 256
	// The factor is looked at after so many bytes on the wire, and changed when it is off by a quarter.
	lookAfter = 64 << 10
	offBy     = 1.25
	// factorMax is for the first fetches, of which nothing is known yet, and the most: below this a batch of the broker's
	// decides anyway.
	factorMax = 64
	// firstLook is after how much the first fetches are judged.
	firstLook = 8 << 10
)

func newFetchSize(buffer int64, update func(fetch, partition int32)) *fetchSize {
	return &fetchSize{
		update: update, fetch: FetchBytes(buffer), partition: fetchPartitionBytesMax, factor: factorMax, brokers: map[int32]bool{},
	}
}

// OnFetchBatchRead is the client's hook.
func (s *fetchSize) OnFetchBatchRead(b kgo.BrokerMetadata, _ string, _ int32, m kgo.FetchBatchMetrics) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := !s.brokers[b.NodeID]
	if changed {
		s.brokers[b.NodeID] = true
	}
	s.wire += int64(m.CompressedBytes)
	s.memory += int64(m.UncompressedBytes) + int64(m.NumRecords)*overheadOnWire
	if s.look() || changed {
		s.update(s.ask())
	}
}

// partitions says over how many partitions the buffer is spread: none may bring more than its part at once.
func (s *fetchSize) partitions(n int, buffer int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := min(max(buffer/int64(max(1, n)), partitionShareMin), fetchPartitionBytesMax, s.fetch); p != s.partition {
		s.partition = p
		s.update(s.ask())
	}
}

// look follows a rise of the factor at once, and a fall by halves, but for the first. It says whether it has changed.
func (s *fetchSize) look() bool {
	if s.wire < lookAfter && (s.factor < factorMax || s.wire < firstLook) {
		return false
	}
	now := min(max(float64(s.memory)/float64(s.wire), 1), factorMax-1)
	s.wire, s.memory = 0, 0
	if now < s.factor*offBy && now > s.factor/offBy {
		return false
	}
	if now < s.factor && s.factor < factorMax {
		now = (now + s.factor) / 2
	}
	s.factor = now
	return true
}

// ask is what to ask for, on the wire.
func (s *fetchSize) ask() (fetch, partition int32) {
	brokers := max(1, len(s.brokers))
	return int32(float64(s.fetch) / s.factor / float64(brokers)), int32(float64(s.partition) / s.factor)
}
