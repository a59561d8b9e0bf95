package http1

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Client keeps the connections to one server. It is safe for concurrent use; its fields are set before.
type Client struct {
	// Dial makes a connection.
	Dial func(ctx context.Context) (*net.TCPConn, error)
	// IdleMax bounds the connections that are kept while idle, IdleTimeout how long each is.
	IdleMax     int
	IdleTimeout time.Duration
	// HeaderBytesMax bounds a response's header.
	HeaderBytesMax int

	mu    sync.Mutex
	idle  []*conn // the longest idle first
	timer *time.Timer
	armed bool
}

// Send sends a request and returns the response when its header is there; the caller reads and closes its Body, within
// ctx. head is the request line and the header fields with the empty line behind them, body as many bytes as they say.
// Neither is read any more when Send has returned. sent is whether any of it may have reached the server.
//
// A Body that was read to its end gives the connection back; any other closes it. Body belongs to its connection, and
// must not be used once it is closed.
func (c *Client) Send(ctx context.Context, head, body []byte) (resp *http.Response, sent bool, err error) {
	if kept := c.take(time.Now()); kept != nil {
		resp, sent, err = kept.exchange(ctx, head, body)
		if err == nil || sent || ctx.Err() != nil {
			return resp, sent, err
		}
	}
	tcp, err := c.Dial(ctx)
	if err != nil {
		return nil, false, err
	}
	return newConn(c, tcp).exchange(ctx, head, body)
}

// take returns a connection that is idle and alive, or nil.
func (c *Client) take(now time.Time) *conn {
	for {
		c.mu.Lock()
		last := len(c.idle) - 1
		if last < 0 {
			c.mu.Unlock()
			return nil
		}
		cn := c.idle[last]
		c.idle[last] = nil
		c.idle = c.idle[:last]
		c.mu.Unlock()
		if now.Sub(cn.since) < c.IdleTimeout && cn.quiet() {
			return cn
		}
		cn.close()
	}
}

// put keeps a connection until it is needed, or has been idle for too long.
func (c *Client) put(cn *conn) {
	cn.since = time.Now()
	c.mu.Lock()
	keep := len(c.idle) < c.IdleMax
	if keep {
		c.idle = append(c.idle, cn)
		c.arm(c.IdleTimeout)
	}
	c.mu.Unlock()
	if !keep {
		cn.close()
	}
}

// arm has reap called after d, if nothing has yet. The caller holds mu.
func (c *Client) arm(d time.Duration) {
	switch {
	case c.armed:
		return
	case c.timer == nil:
		c.timer = time.AfterFunc(d, c.reap)
	default:
		c.timer.Reset(d)
	}
	c.armed = true
}

// reap closes what has been idle for too long.
func (c *Client) reap() {
	now := time.Now()
	c.mu.Lock()
	c.armed = false
	n := 0
	for n < len(c.idle) && now.Sub(c.idle[n].since) >= c.IdleTimeout {
		n++
	}
	old := append([]*conn(nil), c.idle[:n]...)
	c.idle = append(c.idle[:0], c.idle[n:]...)
	clear(c.idle[len(c.idle):cap(c.idle)])
	if len(c.idle) > 0 {
		c.arm(c.IdleTimeout - now.Sub(c.idle[0].since))
	}
	c.mu.Unlock()
	for _, cn := range old {
		cn.close()
	}
}

// CloseIdle closes the connections that are idle now.
func (c *Client) CloseIdle() {
	c.mu.Lock()
	old := c.idle
	c.idle = nil
	if c.timer != nil {
		c.timer.Stop()
		c.armed = false
	}
	c.mu.Unlock()
	for _, cn := range old {
		cn.close()
	}
}
