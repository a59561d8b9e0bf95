package kafka

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// hungFor is how long a broker that did not answer in time is not connected to again.
const hungFor = 5 * time.Second

// hung keeps a client from brokers that hang. A broker whose process stands still takes connections nevertheless, since
// the system does that for it: a client that asks any broker, or the one that it remembers as a group's coordinator, would
// come back to it again and again, and wait each time until the request times out. So after such a time-out connections
// to its address are refused for a while, as if nobody listened there, which makes franz-go ask others and forget what it
// remembered. Its methods may be called from any goroutine.
type hung struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu    sync.Mutex
	until map[string]time.Time // by address; as many as the cluster has brokers
}

func newHung(dial func(context.Context, string, string) (net.Conn, error)) *hung {
	return &hung{dial: dial, until: make(map[string]time.Time)}
}

// DialContext is what a client dials with.
func (h *hung) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	h.mu.Lock()
	refuse := time.Now().Before(h.until[address])
	h.mu.Unlock()
	if refuse {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: named(address), Err: errHung}
	}
	conn, err := h.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &watched{Conn: conn, hung: h, address: address, made: time.Now()}, nil
}

// note begins to refuse an address, unless the connection is from before it was refused last: its silence is no news.
func (h *hung) note(address string, made time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if made.After(h.until[address]) {
		h.until[address] = time.Now().Add(hungFor)
	}
}

// errHung is why a connection is not tried.
var errHung = errors.New("the broker did not answer in time on its last connection")

// named is an address as it was given.
type named string

// Network is net.Addr's.
func (named) Network() string { return "tcp" }

func (n named) String() string { return string(n) }

// watched notes when an answer does not come in time.
type watched struct {
	net.Conn
	hung    *hung
	address string
	made    time.Time
	given   atomic.Int64 // how long the next answer may take, when that was said
}

// SetReadDeadline is net.Conn's.
func (w *watched) SetReadDeadline(t time.Time) error {
	w.given.Store(int64(time.Until(t)))
	return w.Conn.SetReadDeadline(t)
}

// Read is net.Conn's. A read that is interrupted, by a deadline that has come already, tells nothing of the broker.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && time.Duration(w.given.Load()) > time.Second {
		w.hung.note(w.address, w.made)
	}
	return n, err
}
