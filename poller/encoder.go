package poller

import (
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// Encoder gives batches the form in which the function gets them. It is used by any number of goroutines at once.
//
// A batch is planned before it is acquired, so that it fits maximumBatchBytes and its buffer:
//
//	size of the body ≤ Overhead() + Σ RunOverhead(run's partition) + Σ RecordSize(record)
type Encoder interface {
	Overhead() int
	RunOverhead(tp record.TopicPartition) int
	RecordSize(r *record.Record) int
	// Encode makes req carry the records of runs: it appends to req.Body and sets req.Header. It keeps neither.
	Encode(req *invoke.Request, runs []record.Run)
}
