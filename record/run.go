package record

import "time"

// Run is a sequence of records of one ordering scope, in offset order, that is handed to the function in one
// batch and fails or is retried together. In Stream mode the scope is the partition. Offsets may have gaps.
type Run struct {
	TopicPartition
	// Records is never empty. The slice belongs to the window that made the run; the others only read it.
	Records []*Record
	// Retry is what earlier invocations left behind; nil for records that are handed out for the first time.
	Retry *Retry
}

// First is the offset of the first record of the run.
func (r *Run) First() Offset { return Offset(r.Records[0].Offset) }

// Last is the offset of the last record of the run.
func (r *Run) Last() Offset { return Offset(r.Records[len(r.Records)-1].Offset) }

// Retry is the history of a run that has failed at least once. It is written once, by the failure room, and
// only read afterwards: a further failure makes a new one.
type Retry struct {
	// Attempts counts failed invocations that spent a retry attempt.
	Attempts int
	// Invocations counts every invocation of these records so far.
	Invocations int
	// Waits counts the failures in a row, up to now, that spent no attempt (throttled, unreachable, a
	// destination that is down). It grows the pause between tries.
	Waits int
	// Successes is, counted from 1, how many calls the function had taken when these records last failed after they were
	// sent; 0 if they never did. Suspect says that they failed again although the function had taken others since: then
	// they are to blame, and not the function.
	Successes uint64
	Suspect   bool
	// NotBefore is the earliest time of the next try.
	NotBefore time.Time
	// Since is when these records failed for the first time.
	Since time.Time
	// Last is the failure that led here.
	Last Failure
	// GiveUp is set once the mapping's limits ran out: the function is not called any more, and only the
	// on-failure destination still owes its confirmation. Empty while the function is to be called again.
	GiveUp Condition
}

// Failure is what is known of a failed invocation: shown by status and explain, written with a dead letter.
type Failure struct {
	// Kind is the error kind's name, as the invoke room prints it ("Throttled", "FunctionError", ...).
	Kind string
	// Status is the HTTP status, 0 where there was none.
	Status int
	// Type and Message are the function's own error type and message where it gave them.
	Type, Message string
	// RequestID is the batch id of the last invocation.
	RequestID string
	// Partial says that the function succeeded but named these records as failed (batchItemFailures).
	Partial bool
}

// Condition says why records were given up, in the words of Lambda's failure records.
type Condition string

// The conditions under which records are given up (AWS, «Retain discarded batches»; RecordAgeExceeded is the
// Kinesis name, used for Kafka as well).
const (
	RetryAttemptsExhausted     Condition = "RetryAttemptsExhausted"
	RecordAgeExceeded          Condition = "RecordAgeExceeded"
	MaximumPayloadSizeExceeded Condition = "MaximumPayloadSizeExceeded"
)

// Outcome is what became of a record. The set is closed: a record is committed only after one of them.
type Outcome uint8

// The outcomes of a record.
const (
	// Taken by the function: it answered with success and did not name the record as failed.
	Taken Outcome = iota + 1
	// FilteredOut: no filter pattern matched; never handed to the function.
	FilteredOut
	// Duplicate: settled by deduplication (Ordered mode).
	Duplicate
	// DeadLettered: the on-failure destination confirmed it.
	DeadLettered
	// Dropped: the mapping's own limits ran out and it has no destination. Counted and logged, never silent.
	Dropped
	// Released to the broker (Queue mode), which delivers it again up to its own limit.
	Released
)

// String returns the outcome as it appears in logs and metrics.
func (o Outcome) String() string {
	switch o {
	case Taken:
		return "taken"
	case FilteredOut:
		return "filtered-out"
	case Duplicate:
		return "duplicate"
	case DeadLettered:
		return "dead-lettered"
	case Dropped:
		return "dropped"
	case Released:
		return "released"
	}
	return "none"
}
