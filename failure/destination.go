package failure

import (
	"context"

	"github.com/sluicehq/sluice/record"
)

// Destination is where given-up records go. Deliver is called by many goroutines at once.
type Destination interface {
	// Deliver hands over the records of a run whose Retry says why they were given up, and returns when each is
	// either confirmed (it survives the loss of a broker, or whatever the destination calls safe) or has failed.
	// It gives up by itself after a time-out of its own, so that a destination that is down does not hold its
	// caller for ever.
	//
	// Undelivered lists the records without confirmation, in offset order; they are to be delivered again, later.
	// A record among them may have arrived all the same: delivery is at least once. The error is non-nil exactly
	// if there are any.
	Deliver(ctx context.Context, run record.Run) (undelivered []*record.Record, err error)
}
