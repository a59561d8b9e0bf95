package function

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/ledger"
)

// answer is a request being answered. The ledger hears how it ended before the client can, or the client's next batch
// could seem to begin before this one ended.
type answer struct {
	f        *Function
	attempt  *Attempt
	delivery ledger.Delivery
	rule     Rule
	event    event
	w        http.ResponseWriter
	r        *http.Request
}

// wait lets a delay pass. It reports false, and has ended the attempt, when the client or the function goes first.
func (a *answer) wait(delay time.Duration) bool {
	if delay <= 0 {
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-a.gone():
		a.end(0, ledger.All, "the client has gone")
	case <-a.f.closing:
		a.end(0, ledger.All, "the function was closed")
	}
	return false
}

func (a *answer) gone() <-chan struct{} { return a.r.Context().Done() }

// give answers as the rule says.
func (a *answer) give() {
	switch a.rule.Action {
	case Succeed:
		a.end(http.StatusOK, nil, "")
		a.json(http.StatusOK, batchResponse{BatchItemFailures: []batchItemFailure{}})
	case Fail:
		if s := a.rule.RetryAfter; s > 0 {
			a.w.Header().Set("Retry-After", strconv.Itoa(int((s+time.Second-1)/time.Second)))
		}
		a.end(a.rule.status(), ledger.All, "")
		a.json(a.rule.status(), functionError{"the script says so", "ScriptedError"})
	case FunctionError:
		a.w.Header().Set("X-Amz-Function-Error", "Unhandled")
		a.end(http.StatusOK, ledger.All, "")
		a.json(http.StatusOK, functionError{"the script says so", "ScriptedError"})
	case ItemFailures:
		a.itemFailures()
	case Malformed:
		a.end(http.StatusOK, a.counts(), "")
		a.send(http.StatusOK, []byte(`{"batchItemFailures":[`))
	case Hang:
		select {
		case <-a.gone():
		case <-a.f.closing:
		}
		a.end(0, ledger.All, "hung until the client had gone")
		a.reset()
	case Drip:
		a.drip()
	case Huge:
		a.end(http.StatusOK, a.counts(), "")
		a.send(http.StatusOK, padded(a.rule.bytes()))
	case Reset:
		a.end(0, ledger.All, "reset")
		a.reset()
	}
}

// counts is what the records of a questionable answer count as.
func (a *answer) counts() func(record.TopicPartition, record.Offset) bool {
	if a.rule.Taken {
		return nil
	}
	return ledger.All
}

// functionError is Lambda's error document.
type functionError struct {
	Message string `json:"errorMessage"`
	Type    string `json:"errorType"`
}

func (a *answer) itemFailures() {
	response := batchResponse{BatchItemFailures: []batchItemFailure{}}
	failed := map[itemIdentifier]bool{}
	for _, r := range a.rule.containing(a.event) {
		id := itemIdentifier{Partition: r.topicPartition().String(), Offset: r.Offset}
		failed[id] = true
		response.BatchItemFailures = append(response.BatchItemFailures, batchItemFailure{id})
	}
	a.end(http.StatusOK, func(tp record.TopicPartition, offset record.Offset) bool {
		return failed[itemIdentifier{Partition: tp.String(), Offset: offset}]
	}, "")
	a.json(http.StatusOK, response)
}

// drip sends a body byte by byte. The batch is taken with the last one.
func (a *answer) drip() {
	body := padded(a.rule.bytes())
	a.w.Header().Set("Content-Type", "application/json")
	a.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	a.w.WriteHeader(http.StatusOK)
	flusher := http.NewResponseController(a.w)
	for i := range body {
		if err := flusher.Flush(); err != nil {
			a.end(http.StatusOK, ledger.All, err.Error())
			return
		}
		if !a.wait(a.rule.Delay) {
			return
		}
		if i == len(body)-1 {
			a.end(http.StatusOK, nil, "")
		}
		if _, err := a.w.Write(body[i : i+1]); err != nil && i < len(body)-1 {
			a.end(http.StatusOK, ledger.All, err.Error())
			return
		}
	}
}

// padded is a batch response without failures, filled up with spaces.
func padded(size int) []byte {
	const open, end = `{"batchItemFailures":[]`, `}`
	return []byte(open + string(bytes.Repeat([]byte(" "), max(0, size-len(open)-len(end)))) + end)
}

// reset closes the connection without a word, by RST where that can be done.
func (a *answer) reset() {
	conn, _, err := http.NewResponseController(a.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2 has no connection of its own; the server resets the stream
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func (a *answer) json(status int, document any) {
	body, err := json.Marshal(document)
	if err != nil {
		panic(err) // our own types
	}
	a.send(status, body)
}

// send writes an answer; whether the client got it is not known here.
func (a *answer) send(status int, body []byte) {
	a.w.Header().Set("Content-Type", "application/json")
	a.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	a.w.WriteHeader(status)
	_, _ = a.w.Write(body)
}

// end tells the ledger and the memory how the attempt ended; failed as in ledger.End.
func (a *answer) end(status int, failed func(record.TopicPartition, record.Offset) bool, why string) {
	n := 0
	a.f.ledger.End(a.delivery, func(tp record.TopicPartition, offset record.Offset) bool {
		no := failed != nil && failed(tp, offset)
		if no {
			n++
		}
		return no
	})
	a.f.memory.end(a.attempt, func(at *Attempt) {
		at.End, at.Action, at.Status, at.Failed, at.Err = time.Now(), a.rule.Action, status, n, why
	})
	a.f.log.end(*a.attempt, failed)
}
