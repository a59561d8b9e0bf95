package group

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
)

// fetchSize keeps what fetches bring within their bounds after decompression: Kafka bounds a fetch as it is on the
// wire, and a well compressed one may be tens of times as large in memory. The client tells it of every batch.
type fetchSize struct {
	wire, memory atomic.Int64 // bytes fetched since the last look
	// factor is how much smaller fetches are asked for; of the poll loop.
	factor float64
}

var _ kgo.HookFetchBatchRead = (*fetchSize)(nil)

// OnFetchBatchRead is the client's hook.
func (s *fetchSize) OnFetchBatchRead(_ kgo.BrokerMetadata, _ string, _ int32, m kgo.FetchBatchMetrics) {
	s.wire.Add(int64(m.CompressedBytes))
	s.memory.Add(int64(m.UncompressedBytes) + int64(m.NumRecords)*overheadOnWire)
}

// overheadOnWire is what a record takes in memory beyond its bytes in the batch, for the sizes of fetches.
const overheadOnWire = 256

// The factor is looked at after so many bytes on the wire, and changed when it is off by a quarter.
const (
	lookAfter = 64 << 10
	offBy     = 1.25
	// factorMax keeps fetches useful: below this a batch of the broker's decides anyway.
	factorMax = 64
)

// next says by how much smaller than their bounds fetches should be asked for, and whether that has changed. It follows
// a rise at once, and a fall by halves.
func (s *fetchSize) next() (factor float64, changed bool) {
	if s.factor == 0 {
		s.factor = factorStart
	}
	wire := s.wire.Load()
	if wire < lookAfter {
		return s.factor, false
	}
	now := min(max(float64(s.memory.Load())/float64(wire), 1), factorMax)
	s.wire.Store(0)
	s.memory.Store(0)
	if now < s.factor {
		now = (now + s.factor) / 2
	}
	if now < s.factor*offBy && now > s.factor/offBy {
		return s.factor, false
	}
	s.factor = now
	return now, true
}

// factorStart is for the first fetches, of which nothing is known yet.
const factorStart = 8
