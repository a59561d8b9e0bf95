package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"sync"
	"time"
)

// A value begins with its record's number and a byte that says whether it is poison: nine bytes, twelve in base64.
const (
	headBytes   = 9
	headEncoded = headBytes / 3 * 4
)

// valueMark is what stands before a value in an event.
var valueMark = []byte(`"value":"`)

// clock knows when each record was created, and when it arrived for the first time.
type clock struct {
	started time.Time

	mu      sync.Mutex
	created []time.Duration // by number
	arrived []time.Duration // 0: not yet
	failed  map[uint64]int  // how often each poison record has come
	change  *sync.Cond      // something has arrived
}

func newClock() *clock {
	c := &clock{started: time.Now(), failed: map[uint64]int{}}
	c.change = sync.NewCond(&c.mu)
	return c
}

// create gives a record its number, and notes the time.
func (c *clock) create() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.created, c.arrived = append(c.created, time.Since(c.started)), append(c.arrived, 0)
	return uint64(len(c.created) - 1)
}

// head is what a value begins with.
func head(number uint64, poison bool) []byte {
	b := binary.BigEndian.AppendUint64(nil, number)
	if poison {
		return append(b, 1)
	}
	return append(b, 0)
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// arrive is the function.
func (c *clock) arrive(w http.ResponseWriter, r *http.Request) {
	body := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(body)
	body.Reset()
	if _, err := io.Copy(body, r.Body); err != nil {
		return // cut off: it has not arrived
	}
	if c.note(time.Since(c.started), body.Bytes()) {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// note takes the arrivals of an event, and says whether it holds poison.
func (c *clock) note(now time.Duration, event []byte) (poison bool) {
	var decoded [headBytes]byte
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		at := bytes.Index(event, valueMark)
		if at < 0 || len(event) < at+len(valueMark)+headEncoded {
			c.change.Broadcast()
			return poison
		}
		event = event[at+len(valueMark):]
		if _, err := base64.StdEncoding.Decode(decoded[:], event[:headEncoded]); err != nil {
			continue
		}
		number := binary.BigEndian.Uint64(decoded[:])
		switch {
		case number >= uint64(len(c.arrived)):
		case decoded[8] == 1:
			poison = true
			c.failed[number]++
		case c.arrived[number] == 0:
			c.arrived[number] = now
		}
	}
}

// wait waits until done says so, with the clock locked, or time is up.
func (c *clock) wait(d time.Duration, done func() bool) bool {
	late := time.Now().Add(d)
	stop := time.AfterFunc(d, c.change.Broadcast)
	defer stop.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !done() {
		if time.Now().After(late) {
			return false
		}
		c.change.Wait()
	}
	return true
}
