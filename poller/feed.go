package poller

import (
	"context"
	"sync/atomic"

	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/record"
)

// Feed is one mapping's Kafka membership in this process, as pollers see it. Both methods may be called by any number
// of goroutines.
type Feed interface {
	// Acquire waits for the next batch. free counts the caller's invocation slots that are free, the asking one
	// included; the feed spreads partitions over free slots. It returns ctx's error when ctx ends, or ErrClosed
	// when there will be no more batches. A lease that is returned must be settled.
	Acquire(ctx context.Context, free *atomic.Int32) (*Lease, error)
	// Settle ends a lease: retry[i] is what has to come again of the lease's i-th run, everything else of it has
	// its outcome. A nil or short retry settles the rest.
	//
	// Where free is not nil, the caller wants to go on: Settle returns the batch that is due next, before those who wait
	// get theirs, or nil if none is. It is a lease like Acquire's.
	Settle(l *Lease, retry [][]record.Run, free *atomic.Int32) *Lease
}

// Lease is a batch that is out, with the permission to call the function.
type Lease struct {
	*inflight.Lease
	// Pass is the gate's permission for one call. The poller gives it back.
	Pass circuit.Pass
	// Context ends when the function's time-out is over, where the feed knows it, and when the records are not ours any
	// more: their partition was revoked and the drain deadline passed, or the process stops now.
	Context context.Context
	// Cancel frees Context; the feed calls it at Settle.
	Cancel context.CancelFunc
}
