package invoke

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/record"
)

// Kind is the closed set of ways in which an invocation fails. The kind decides what happens next; the text
// only explains.
type Kind uint8

// The kinds of failure.
const (
	// FunctionError: the function ran and failed (error response, 4xx, 5xx, connection lost after sending).
	FunctionError Kind = iota + 1
	// Timeout: no answer within the function's time-out.
	Timeout
	// Malformed: an answer that cannot be used: too long, broken off, or not the response that was asked for.
	Malformed
	// Denied: 401 or 403. Spends attempts as any 4xx does; told apart because the operator can mend it.
	Denied
	// Throttled: the target said «not now» (429, 503, 408): the batch did not reach the function's code.
	Throttled
	// Unreachable: no connection (refused, DNS, TLS handshake, no route): nothing was sent.
	Unreachable
	// TooLarge: the target refused the event for its size (413), or it is over the mapping's limit.
	TooLarge
	// Canceled: we gave the call up ourselves (partition revoked, shutdown); its outcome is unknown.
	Canceled
)

var kindNames = [...]string{
	FunctionError: "FunctionError", Timeout: "Timeout", Malformed: "Malformed", Denied: "Denied",
	Throttled: "Throttled", Unreachable: "Unreachable", TooLarge: "TooLarge", Canceled: "Canceled",
}

// String returns the kind's name as it appears in logs, metrics and dead letters.
func (k Kind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// SpendsAttempt says whether a failure of this kind uses up a retry attempt (product contract, «Functions»).
func (k Kind) SpendsAttempt() bool {
	switch k {
	case FunctionError, Timeout, Malformed, Denied:
		return true
	}
	return false
}

// Error is a failed invocation.
type Error struct {
	Kind Kind
	// Status is the HTTP status, 0 where no response came.
	Status int
	// Type and Message are the function's own words where it gave them (errorType, errorMessage), cut to
	// a few hundred bytes.
	Type, Message string
	// RetryAfter is how long the target asked us to wait; 0 if it did not say.
	RetryAfter time.Duration
	// Hint says what the operator can do about it; may be empty.
	Hint string
	// Err is the cause below, where there is one.
	Err error
}

// Error gives kind, status, type and message, from the outside in.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	if e.Status != 0 {
		fmt.Fprintf(&b, ": status %d", e.Status)
	}
	for _, s := range []string{e.Type, e.Message} {
		if s != "" {
			b.WriteString(": ")
			b.WriteString(s)
		}
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Failure is the error in the words that travel with a run.
func (e *Error) Failure(requestID string) record.Failure {
	msg := e.Message
	if msg == "" && e.Err != nil {
		msg = e.Err.Error()
	}
	return record.Failure{Kind: e.Kind.String(), Status: e.Status, Type: e.Type, Message: msg, RequestID: requestID}
}
