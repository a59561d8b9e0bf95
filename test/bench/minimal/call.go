package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/sluicehq/sluice/invoke/httpfn"
)

// writeBufferBytes lets a batch of a hundred records of 1 KiB go out in one write with its headers: net/http copies it
// into its buffer once, and what is beyond that through 32 KiB that it allocates for each call.
const writeBufferBytes = 256 << 10

// caller sends events to the function, one after the other, and uses everything again.
type caller struct {
	transport http.RoundTripper
	request   *http.Request
	event     bytes.Reader
	body      io.ReadCloser
	scratch   [512]byte
}

// newCallers returns how to make callers that share a Transport.
func newCallers(url string) (func() *caller, error) {
	transport := httpfn.NewTransport(httpfn.Config{Name: "noop", URL: url})
	transport.WriteBufferSize = writeBufferBytes
	request, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	return func() *caller {
		own := *request // the header is shared: nobody writes to it
		a := &caller{transport: transport, request: &own}
		a.body = io.NopCloser(&a.event)
		return a
	}, nil
}

// call sends one event and wants a 2xx.
func (c *caller) call(event []byte) error {
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
