package kafkatest

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// poll repeats a check until it returns nil, and fails the test with its last error when time is up.
func (c *Cluster) poll(timeout time.Duration, check func() error) {
	c.t.Helper()
	began := time.Now()
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Since(began) > timeout || final(err) {
			c.t.Fatalf("after %v: %v", time.Since(began).Round(time.Millisecond), err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// read repeats a request that only reads, while brokers come and go.
func (c *Cluster) read(request func(ctx context.Context) error) {
	c.t.Helper()
	c.poll(requestTimeout, func() error {
		ctx, cancel := context.WithTimeout(c.t.Context(), requestTimeout/3)
		defer cancel()
		return request(ctx)
	})
}

// final reports whether Kafka said no for good.
func final(err error) bool {
	var no *kerr.Error
	return errors.As(err, &no) && !no.Retriable
}
