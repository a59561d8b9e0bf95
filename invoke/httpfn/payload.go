package httpfn

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptrace"

	"github.com/sluicehq/sluice/invoke"
)

// headerFor is the headers of a request: the exchange's own, which say application/json, or a copy with those that the
// request brings. The copy is not used again, so that nothing of a record can stay behind for the next.
func (x *exchange) headerFor(req *invoke.Request) http.Header {
	if req.Header == nil {
		return x.header
	}
	h := maps.Clone(x.header)
	delete(h, "Content-Type")
	for _, field := range req.Header {
		h[field.Name] = []string{field.Value}
	}
	return h
}

// watchHeaders makes a request without body count as sent, as soon as its headers are on their way: there is no first
// byte of an event to go by. It is on the safe side: if the connection is found dead only now, the call is not repeated
// and spends an attempt, though nothing may have arrived. A connection that net/http takes instead starts anew.
func (x *exchange) watchHeaders(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { x.event.setTaken(false) },
		WroteHeaders: func() { x.event.setTaken(true) },
	})
}

// setTaken says whether an event without bytes counts as sent.
func (e *event) setTaken(taken bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.taken = taken
}
