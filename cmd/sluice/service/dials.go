package service

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// dials remembers how a client's last attempt to connect failed. A client that has several addresses goes on trying until
// the time of a request is over, and then says nothing but that.
type dials struct {
	mu  sync.Mutex
	err error
	at  time.Time
}

// dialFresh is how long a failed attempt explains a request that got no answer.
const dialFresh = time.Minute

var _ kgo.HookBrokerConnect = (*dials)(nil)

// OnBrokerConnect is the client's hook.
func (d *dials) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.at = err, time.Now()
}

// cause is what stood behind an error: itself, or the attempt to connect that failed last where time ran out.
func (d *dials) cause(err error) error {
	if d == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil || time.Since(d.at) > dialFresh {
		return err
	}
	return d.err
}
