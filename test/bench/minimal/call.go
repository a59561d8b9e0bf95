package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/invoke/httpfn"
)

// directMax is the longest event that is sent as a plain request. It leaves in one write from the Transport's buffer. For a
// longer one httpfn.Function is quicker: it writes headers and event at once out of their own memory, where net/http
// copies the event through buffers (100 × 10 KiB: 12.0 instead of 13.6 CPU-seconds per million records; 1 × 1 KiB: the
// plain request is, by what Function puts into the headers).
const directMax = 8 << 10

// caller sends events to the function, one after the other, and uses everything again.
type caller struct {
	transport http.RoundTripper
	request   *http.Request
	event     bytes.Reader
	body      io.ReadCloser
	scratch   [512]byte

	function *httpfn.Function
	invoke   invoke.Request
}

// newCallers returns how to make callers that share the Transport that Sluice's functions have.
func newCallers(url string) (func() *caller, error) {
	c := httpfn.Config{Name: "noop", URL: url}
	c.Transport = httpfn.NewTransport(c)
	function, err := httpfn.New(c)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	return func() *caller {
		own := *request // the header is shared: nobody writes to it
		a := &caller{
			transport: c.Transport, request: &own, function: function,
			invoke: invoke.Request{Mapping: "bench", Attempt: 1, BatchID: "00000000000000000000000000000000"},
		}
		a.body = io.NopCloser(&a.event)
		return a
	}, nil
}

// call sends one event and wants a 2xx. The context must have a deadline, or Function would make one for each call.
func (c *caller) call(ctx context.Context, event []byte) error {
	if len(event) > directMax {
		c.invoke.Body = event
		_, err := c.function.Invoke(ctx, &c.invoke)
		return err
	}
	c.event.Reset(event)
	c.request.Body, c.request.ContentLength = c.body, int64(len(event))
	resp, err := c.transport.RoundTrip(c.request)
	if err != nil {
		return err
	}
	for err == nil {
		_, err = resp.Body.Read(c.scratch[:])
	}
	if err != io.EOF {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the function answered %s", resp.Status)
	}
	return nil
}
