package controller

import (
	"encoding/json"
	"testing"
	"time"
)

func TestWaitsInWords(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	five := 5
	ago := func(d time.Duration) *time.Time { at := now.Add(-d); return &at }
	cases := []struct {
		name             string
		wait             Wait
		reason, sentence string
	}{
		{
			"backoff after a status",
			Wait{For: Backoff, Record: "orders-3@1500", Records: 100, Since: ago(95 * time.Second), Attempts: 6, Invocations: 7, LastError: &LastError{Kind: "Throttled", Status: 503}, NextAttemptAt: ago(-12 * time.Second)},
			"waiting in backoff for orders-3@1500, attempt 7, 503",
			"waiting in backoff for orders-3@1500, attempt 7, 503 (100 records), for 1m35s; the last error was Throttled; the next attempt is in 12s",
		},
		{
			"backoff after the function's own error",
			Wait{For: Backoff, Record: "orders-3@1500", Records: 1, Invocations: 2, LastError: &LastError{Kind: "FunctionError", Status: 200, Type: "ValueError", Message: "no total"}, NextAttemptAt: ago(0)},
			"waiting in backoff for orders-3@1500, attempt 2, 200",
			"waiting in backoff for orders-3@1500, attempt 2, 200; the last error was FunctionError: ValueError: no total; the next attempt is due",
		},
		{
			"an error without status is told once",
			Wait{For: Backoff, Record: "a-0@1", Invocations: 1, LastError: &LastError{Kind: "Timeout"}, NextAttemptAt: ago(-300 * time.Millisecond)},
			"waiting in backoff for a-0@1, attempt 1, Timeout",
			"waiting in backoff for a-0@1, attempt 1, Timeout; the next attempt is in 300ms",
		},
		{
			"a call that hangs",
			Wait{For: Invocation, Record: "a-0@1", Records: 2, Since: ago(time.Hour)},
			"waiting for the function to return from a-0@1",
			"waiting for the function to return from a-0@1 (2 records), for 1h0m0s",
		},
		{
			"a destination that is down",
			Wait{For: Destination, Record: "a-0@1", LastError: &LastError{Kind: "LEADER_NOT_AVAILABLE"}},
			"waiting for the on-failure destination to take a-0@1, LEADER_NOT_AVAILABLE",
			"waiting for the on-failure destination to take a-0@1, LEADER_NOT_AVAILABLE",
		},
		{
			"a batch with a limit of retries",
			Wait{For: Backoff, Record: "a-0@1", Attempts: 3, Invocations: 4, MaximumRetryAttempts: &five, LastError: &LastError{Kind: "Timeout"}, NextAttemptAt: ago(0)},
			"waiting in backoff for a-0@1, attempt 4, Timeout",
			"waiting in backoff for a-0@1, attempt 4, Timeout; 2 of 5 retries used; the next attempt is due",
		},
		{
			"a record that the function named",
			Wait{For: Backoff, Record: "a-0@1", Invocations: 1, LastError: &LastError{Kind: "BatchItemFailure", Status: 200}, NextAttemptAt: ago(0)},
			"waiting in backoff for a-0@1, attempt 1, named as failed",
			"waiting in backoff for a-0@1, attempt 1, named as failed; the next attempt is due",
		},
		{"slots", Wait{For: Slot}, "waiting for a free invocation slot", "waiting for a free invocation slot"},
		{"budget", Wait{For: Budget}, "throttled by pollerLimits", "throttled by pollerLimits"},
		{"window", Wait{For: Window}, "waiting for the batching window", "waiting for the batching window"},
		{"fetch", Wait{For: Fetch}, "waiting for the broker", "waiting for the broker"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.wait.Reason(); got != c.reason {
				t.Errorf("reason:\n got %s\nwant %s", got, c.reason)
			}
			if got := c.wait.Sentence(now); got != c.sentence {
				t.Errorf("sentence:\n got %s\nwant %s", got, c.sentence)
			}
		})
	}
}

func TestUnknownLagIsNullAndNotZero(t *testing.T) {
	b, err := json.Marshal(PartitionStatus{Topic: "orders", State: Idle})
	const want = `{"topic":"orders","partition":0,"committed":null,"endOffset":null,"lag":null,"state":"idle"}`
	if err != nil || string(b) != want {
		t.Errorf("got %s %v\nwant %s", b, err, want)
	}
}
