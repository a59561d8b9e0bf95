package function

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Action is how the function answers a request that a rule meets.
type Action string

// The actions. What an attempt counts as for the ledger is in brackets.
const (
	// Succeed answers 200 with no batch item failures, after the delay [taken].
	Succeed Action = "succeed"
	// Fail answers Status (500 if zero), with Retry-After if set [failed].
	Fail Action = "fail"
	// FunctionError answers 200 with the header X-Amz-Function-Error and an error document [failed].
	FunctionError Action = "function-error"
	// ItemFailures answers 200 and names the records that contain Contains as batch item failures; all of them if
	// that is empty [those failed, the others taken].
	ItemFailures Action = "item-failures"
	// Malformed answers 200 with a body that is no JSON [failed; a mapping without ReportBatchItemFailures does not
	// look: set Taken].
	Malformed Action = "malformed"
	// Hang answers nothing until the client has gone or the function is closed [failed].
	Hang Action = "hang"
	// Drip answers 200 and sends Bytes of body, one after each Delay [taken if the last byte could be sent].
	Drip Action = "drip"
	// Huge answers 200 with a valid body of Bytes [failed: a response over 6 MB is a function error].
	Huge Action = "huge"
	// Reset closes the connection without an answer [failed].
	Reset Action = "reset"
)

// Defaults of rules.
const (
	dripBytes = 1_000
	hugeBytes = 7 << 20
)

// Rule says what happens to which requests. The first rule of a script that meets a request decides; a request that
// none meets succeeds.
type Rule struct {
	Action Action

	// When. Empty conditions are met by every request.
	Share    float64 // of the requests that meet the others, drawn by the script's seed; 0 means all
	Contains string  // some record's value contains this
	Times    int     // at most so many requests; 0 means any number
	Attempts int     // only the first so many attempts of a batch (header Sluice-Attempt, from 1); 0 means all

	// How.
	Status     int           // of Fail
	RetryAfter time.Duration // of Fail: seconds in the header; 0 means none
	Delay      time.Duration // before the answer; between the bytes of Drip
	Bytes      int           // of Drip (1 000 if zero) and Huge (7 MiB)
	Taken      bool          // Malformed and Huge count as taken
}

// ParseRule reads a rule as one line: the action, then conditions and details as name=value.
//
//	fail status=503 retry-after=2s share=0.05
//	item-failures contains=poison
//	hang times=3
//	malformed counts=taken
func ParseRule(line string) (Rule, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Rule{}, errors.New("a rule begins with its action")
	}
	r := Rule{Action: Action(words[0])}
	errs := []error{r.Action.check()}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		if err := r.set(name, value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", word, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", line, err)
	}
	return r, nil
}

func (a Action) check() error {
	switch a {
	case Succeed, Fail, FunctionError, ItemFailures, Malformed, Hang, Drip, Huge, Reset:
		return nil
	}
	return fmt.Errorf("action %q: want succeed, fail, function-error, item-failures, malformed, hang, drip, huge or reset", string(a))
}

func (r *Rule) set(name, value string) (err error) {
	switch name {
	case "share":
		if r.Share, err = strconv.ParseFloat(value, 64); err == nil && !(r.Share > 0 && r.Share <= 1) {
			err = errors.New("want more than 0 and at most 1")
		}
	case "contains":
		r.Contains = value
	case "times":
		r.Times, err = positive(value)
	case "attempts":
		r.Attempts, err = positive(value)
	case "status":
		if r.Status, err = positive(value); err == nil && (r.Status < 200 || r.Status > 599) {
			err = errors.New("want 200 to 599")
		}
	case "retry-after":
		r.RetryAfter, err = duration(value)
	case "delay":
		r.Delay, err = duration(value)
	case "bytes":
		r.Bytes, err = positive(value)
	case "counts":
		if r.Taken = value == "taken"; !r.Taken && value != "failed" {
			err = errors.New("want taken or failed")
		}
	default:
		err = errors.New("want share, contains, times, attempts, status, retry-after, delay, bytes or counts")
	}
	return err
}

func positive(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, errors.New("want a number from 1")
	}
	return n, nil
}

func duration(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return 0, errors.New("want a duration such as 500ms or 2s")
	}
	return d, nil
}

// meets reports whether a request meets what the rule says of its content; share and times are the script's matter.
func (r Rule) meets(e event, attempt int) bool {
	if r.Attempts > 0 && attempt > r.Attempts {
		return false
	}
	return r.Contains == "" || len(r.containing(e)) > 0
}

// containing are the records whose value contains what the rule names; all of them when it names nothing.
func (r Rule) containing(e event) []eventRecord {
	var found []eventRecord
	for _, records := range e.Records {
		for _, rec := range records {
			if r.Contains == "" || bytes.Contains(rec.Value, []byte(r.Contains)) {
				found = append(found, rec)
			}
		}
	}
	return found
}

func (r Rule) status() int {
	if r.Status != 0 {
		return r.Status
	}
	return http.StatusInternalServerError
}

func (r Rule) bytes() int {
	switch {
	case r.Bytes != 0:
		return r.Bytes
	case r.Action == Drip:
		return dripBytes
	}
	return hugeBytes
}
