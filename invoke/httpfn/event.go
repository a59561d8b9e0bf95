package httpfn

import (
	"errors"
	"io"
	"sync"
)

// event lends the event's bytes to the Transport and takes them back. The Transport may go on reading a request's
// body after RoundTrip has returned (an early answer, a time-out), while the caller's buffer is about to be filled
// with the next event: whoever reads late must find nothing.
type event struct {
	mu    sync.Mutex
	data  []byte
	loan  int  // counts the times that data was lent out; a body of another loan finds nothing
	taken bool // a byte was taken to be sent: from here on the event counts as sent
	open  int  // bodies that the Transport has not closed
}

var errGone = errors.New("httpfn: the invocation is over")

// hold lends data out and returns the body that reads it.
func (e *event) hold(data []byte) *body {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.data, e.taken = data, false
	e.loan++
	e.open++
	return &body{event: e, loan: e.loan}
}

// again is the request's GetBody: the Transport calls it to send on another connection what it could not send at all
// on the first.
func (e *event) again() (io.ReadCloser, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.data == nil {
		return nil, errGone
	}
	e.open++
	return &body{event: e, loan: e.loan}, nil
}

// touched says whether any of the event may have been sent.
func (e *event) touched() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.taken
}

// release takes the bytes back. If the Transport is writing them to a connection at this moment, it waits until
// that ends: the answer is complete or the call is over, so that the Transport gives the connection up within 50 ms
// (net/http, maxWriteWaitBeforeConnReuse). It says whether the Transport is done with the request.
func (e *event) release() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.data, e.taken = nil, false
	e.loan++
	return e.open == 0
}

// body reads an event once.
type body struct {
	event  *event
	loan   int
	at     int
	closed bool
}

// Read copies from the event.
func (b *body) Read(p []byte) (int, error) {
	b.event.mu.Lock()
	defer b.event.mu.Unlock()
	rest, err := b.rest()
	if err != nil {
		return 0, err
	}
	return b.advance(copy(p, rest)), nil
}

// advance notes that n bytes are on their way.
func (b *body) advance(n int) int {
	b.at += n
	b.event.taken = b.event.taken || n > 0
	return n
}

// rest is what has not been read; io.EOF at the end.
func (b *body) rest() ([]byte, error) {
	e := b.event
	if b.loan != e.loan || b.closed {
		return nil, errGone
	}
	if b.at == len(e.data) {
		return nil, io.EOF
	}
	return e.data[b.at:], nil
}

// Close is the Transport's word that it is done with the body.
func (b *body) Close() error {
	b.event.mu.Lock()
	defer b.event.mu.Unlock()
	if !b.closed {
		b.closed = true
		b.event.open--
	}
	return nil
}
