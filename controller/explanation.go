package controller

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/failure"
)

// Explanation says why a mapping moves as it does, or does not: the answer of /sluice/v1/explain.
type Explanation struct {
	// Mapping is the name; State and StateReason are as in MappingStatus.
	Mapping     string `json:"mapping"`
	State       string `json:"state"`
	StateReason string `json:"stateReason,omitempty"`
	// Lag is in records, over the partitions asked for; nil while it is unknown.
	Lag *int64 `json:"lag"`
	// Summary is one sentence for people about the whole.
	Summary string `json:"summary"`
	// Partitions are those asked for, those that stand still first. A partition that another process owns is missing.
	Partitions []PartitionExplanation `json:"partitions"`
}

// PartitionExplanation says what one partition waits for.
type PartitionExplanation struct {
	Topic     string         `json:"topic"`
	Partition int32          `json:"partition"`
	State     PartitionState `json:"state"`
	// Lag is in records; nil while it is unknown.
	Lag *int64 `json:"lag"`
	// Wait is what stands at the front; nil for a partition that is idle or flows.
	Wait *Wait `json:"wait,omitempty"`
	// Sentence says it for people; see Wait.Sentence.
	Sentence string `json:"sentence"`
}

// WaitKind is what a partition can wait for.
type WaitKind string

// What a partition waits for.
const (
	// Backoff: records failed and are tried again after a pause.
	Backoff WaitKind = "backoff"
	// Invocation: a call to the function has not returned.
	Invocation WaitKind = "invocation"
	// Destination: records were given up, and their on-failure destination has not confirmed them.
	Destination WaitKind = "destination"
	// Slot: records are ready, and all invocation slots of the pollers are taken.
	Slot WaitKind = "slot"
	// Budget: records are ready, and the pollers' byte budgets are spent.
	Budget WaitKind = "budget"
	// Window: a batch is being filled and its batching window is open.
	Window WaitKind = "window"
	// Fetch: nothing is buffered, and the broker has sent nothing yet.
	Fetch WaitKind = "fetch"
)

// Wait is what the records at the front of a partition wait for.
type Wait struct {
	For WaitKind `json:"for"`
	// Record is the first record that waits, as topic-partition@offset; Records is how many wait with it.
	Record  string `json:"record,omitempty"`
	Records int    `json:"records,omitempty"`
	// Since is when the wait began: with failures, when these records failed first.
	Since *time.Time `json:"since,omitempty"`
	// Attempts counts failed invocations that spent a retry attempt, Invocations all.
	Attempts    int `json:"attempts,omitempty"`
	Invocations int `json:"invocations,omitempty"`
	// MaximumRetryAttempts is the mapping's; nil where it has no limit or nothing has failed.
	MaximumRetryAttempts *int `json:"maximumRetryAttempts,omitempty"`
	// LastError is the last failure; nil before the first.
	LastError *LastError `json:"lastError,omitempty"`
	// NextAttemptAt is the earliest time of the next try; nil if it does not wait for a time.
	NextAttemptAt *time.Time `json:"nextAttemptAt,omitempty"`
}

// LastError is a failure as the function seam tells it. It never holds a record's content unless the function's own
// message does.
type LastError struct {
	// Kind is an error kind's name (FunctionError, Throttled, ...); Status the HTTP status, 0 without one.
	Kind   string `json:"kind"`
	Status int    `json:"status,omitempty"`
	// Type and Message are the function's own.
	Type    string `json:"type,omitempty"`
	Message string `json:"message,omitempty"`
}

// Reason is the short form, for a stall: «waiting in backoff for orders-3@1500, attempt 7, 503».
func (w *Wait) Reason() string {
	var b strings.Builder
	switch w.For {
	case Backoff:
		fmt.Fprintf(&b, "waiting in backoff for %s", w.Record)
	case Invocation:
		fmt.Fprintf(&b, "waiting for the function to return from %s", w.Record)
	case Destination:
		fmt.Fprintf(&b, "waiting for the on-failure destination to take %s", w.Record)
	case Slot:
		b.WriteString("waiting for a free invocation slot")
	case Budget:
		b.WriteString("throttled by pollerLimits")
	case Window:
		b.WriteString("waiting for the batching window")
	case Fetch:
		b.WriteString("waiting for the broker")
	default:
		fmt.Fprintf(&b, "waiting for %s", w.For)
	}
	if w.Invocations > 0 {
		fmt.Fprintf(&b, ", attempt %d", w.Invocations)
	}
	if e := w.LastError; e != nil {
		b.WriteString(", " + e.short())
	}
	return b.String()
}

// Sentence is the long form: what waits, since when, after how many attempts and which error, and until when.
func (w *Wait) Sentence(now time.Time) string {
	var b strings.Builder
	b.WriteString(w.Reason())
	if w.Records > 1 {
		fmt.Fprintf(&b, " (%d records)", w.Records)
	}
	if w.Since != nil {
		fmt.Fprintf(&b, ", for %s", span(now.Sub(*w.Since)))
	}
	if e := w.LastError; e != nil {
		if words := e.words(); words != "" {
			fmt.Fprintf(&b, "; the last error was %s", words)
		}
	}
	if most := w.MaximumRetryAttempts; most != nil && w.For != Destination {
		fmt.Fprintf(&b, "; %d of %d retries used", max(w.Attempts-1, 0), *most)
	}
	if w.NextAttemptAt != nil {
		if d := w.NextAttemptAt.Sub(now); d > 0 {
			fmt.Fprintf(&b, "; the next attempt is in %s", span(d))
		} else {
			b.WriteString("; the next attempt is due")
		}
	}
	return b.String()
}

// held is the long form in an outage of the function, whose error stands in the summary.
func (w *Wait) held(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "waiting for the function to come back, with %s", w.Record)
	if w.Records > 1 {
		fmt.Fprintf(&b, " (%d records)", w.Records)
	}
	fmt.Fprintf(&b, ", attempt %d", w.Invocations)
	if w.Since != nil {
		fmt.Fprintf(&b, ", for %s", span(now.Sub(*w.Since)))
	}
	return b.String()
}

// short is the status where there is one that says something, else the kind.
func (e *LastError) short() string {
	if e.Kind == failure.BatchItemFailure {
		return "named as failed"
	}
	if e.Status != 0 {
		return fmt.Sprint(e.Status)
	}
	return e.Kind
}

// words is what the function said, in full.
func (e *LastError) words() string {
	parts := []string{e.Kind}
	for _, s := range []string{e.Type, e.Message} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 1 && (e.short() == e.Kind || e.Kind == failure.BatchItemFailure) {
		return "" // Reason has said it
	}
	return strings.Join(parts, ": ")
}

// span prints a duration as people say it: whole seconds from a second on.
func span(d time.Duration) string {
	if d >= time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}
