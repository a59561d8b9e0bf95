package poller

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// ErrClosed says that a feed has no more batches: it is stopping.
var ErrClosed = errors.New("the feed is closed")

func count(runs []record.Run) int {
	n := 0
	for i := range runs {
		n += len(runs[i].Records)
	}
	return n
}

// sortRuns puts runs of one partition into offset order, in which they are retried.
func sortRuns(runs []record.Run) {
	if len(runs) > 1 {
		slices.SortFunc(runs, func(a, b record.Run) int { return cmp.Compare(a.First(), b.First()) })
	}
}

// asError is the invocation's error; a target that breaks the seam's promise counts as a function error.
func asError(err error) *invoke.Error {
	var e *invoke.Error
	if errors.As(err, &e) {
		return e
	}
	kind := invoke.FunctionError
	if errors.Is(err, context.Canceled) {
		kind = invoke.Canceled
	}
	return &invoke.Error{Kind: kind, Err: err}
}
