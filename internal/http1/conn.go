package http1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

// What a request costs when its server behaves strangely.
const (
	// refusalWait is how long a write that failed waits for an answer that may have come before the failure: a server
	// that refuses a request unread (413, 401) answers and hangs up.
	refusalWait = 100 * time.Millisecond
	// stuckAfter is how long a write goes without progress before it is looked whether the server has answered already:
	// it may have, and never read the rest.
	stuckAfter = 50 * time.Millisecond
	// longBody is from where a body may not fit into the connection's buffers.
	longBody = 32 << 10
	// informalMax is how many responses of status 1xx may come before the response.
	informalMax = 5
)

// Errors of a connection.
var (
	// ErrDead says that a connection was found dead before any of a request was sent on it.
	ErrDead = errors.New("the server closed the connection before the event was sent")
	// ErrNoAnswer says that a connection ended where a response was due.
	ErrNoAnswer = errors.New("the server closed the connection without an answer")
	// ErrHeaderTooLong says that a response's header is over its bound.
	ErrHeaderTooLong = errors.New("the response's header is too long")
)

// conn is one connection, used by one call at a time.
type conn struct {
	client *Client
	tcp    *net.TCPConn
	raw    syscall.RawConn
	since  time.Time // idle since

	reader *bufio.Reader
	left   int // bytes that may be read of a header; less than 0 is no bound

	parts [2][]byte // memory of rest
	rest  net.Buffers

	look   func(fd uintptr) // sets silent
	silent bool

	cancel func()      // ends what waits for the connection
	stop   func() bool // of cancel's registration with a call's context
	reuse  bool        // the response allows it
	body   responseBody
}

// readerBytes is a connection's buffer for responses.
const readerBytes = 4 << 10

func newConn(client *Client, tcp *net.TCPConn) *conn {
	c := &conn{client: client, tcp: tcp}
	c.raw, _ = tcp.SyscallConn() // fails on a closed connection only, and then every write does
	c.reader = bufio.NewReaderSize((*limited)(c), readerBytes)
	c.look = func(fd uintptr) { c.silent = silent(fd) }
	c.cancel = func() { _ = tcp.SetDeadline(time.Unix(1, 0)) }
	return c
}

// quiet says whether the connection is there and nothing has come on it, which nobody asked for.
func (c *conn) quiet() bool {
	if c.reader.Buffered() > 0 || c.raw == nil {
		return false
	}
	return c.raw.Control(c.look) == nil && c.silent
}

func (c *conn) close() { _ = c.tcp.Close() }

// exchange sends a request and reads its response's header.
func (c *conn) exchange(ctx context.Context, head, body []byte) (*http.Response, bool, error) {
	c.stop = afterFunc(ctx, c.cancel)
	whole, sent, err := c.write(ctx, head, body)
	var resp *http.Response
	switch {
	case err == nil:
		resp, err = c.read()
	case sent && !timedOut(err):
		resp, err = c.refusal(ctx, err)
	}
	if err != nil {
		c.stop()
		c.close()
		return nil, sent, err
	}
	c.reuse = whole && !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols
	c.body = responseBody{conn: c, from: resp.Body}
	resp.Body = &c.body
	return resp, sent, nil
}

// afterFunc is context.AfterFunc, without the context that it makes around one that has such a method of its own.
func afterFunc(ctx context.Context, f func()) (stop func() bool) {
	if own, ok := ctx.(interface{ AfterFunc(func()) func() bool }); ok {
		return own.AfterFunc(f)
	}
	return context.AfterFunc(ctx, f)
}

// write writes the request: whole is whether all of it, which it is not where the server has answered before.
func (c *conn) write(ctx context.Context, head, body []byte) (whole, sent bool, err error) {
	c.parts = [2][]byte{head, body}
	c.rest = c.parts[:]
	defer func() { c.parts = [2][]byte{} }()
	before := int64(len(head)) // the byte that counts
	if len(body) == 0 {
		c.rest, before = c.parts[:1], 0
	}
	long, written := len(body) > longBody, int64(0)
	for {
		if long {
			_ = c.tcp.SetWriteDeadline(time.Now().Add(stuckAfter))
		}
		var n int64
		n, err = c.rest.WriteTo(c.tcp)
		written += n
		sent = written > before
		switch {
		case err == nil:
			if long {
				_ = c.tcp.SetWriteDeadline(time.Time{})
			}
			return true, true, nil
		case !long || !timedOut(err) || ctx.Err() != nil:
			if !sent {
				err = fmt.Errorf("%w: %w", ErrDead, err)
			}
			return false, sent, err
		case sent && !c.quiet():
			return false, true, nil
		}
	}
}

// refusal reads the answer that may have come before a write failed.
func (c *conn) refusal(ctx context.Context, failed error) (*http.Response, error) {
	_ = c.tcp.SetReadDeadline(time.Now().Add(refusalWait))
	resp, err := c.read()
	if err != nil {
		return nil, failed
	}
	_ = c.tcp.SetReadDeadline(time.Time{})
	if ctx.Err() != nil {
		c.cancel()
	}
	return resp, nil
}

// request is what net/http wants to know of a request to parse its response.
var request = &http.Request{Method: http.MethodPost}

// read reads a response's header.
func (c *conn) read() (*http.Response, error) {
	for range informalMax + 1 {
		c.left = c.client.HeaderBytesMax
		resp, err := http.ReadResponse(c.reader, request)
		switch {
		case err != nil && c.left == 0:
			return nil, fmt.Errorf("%w; at most %d bytes", ErrHeaderTooLong, c.client.HeaderBytesMax)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, ErrNoAnswer
		case err != nil:
			return nil, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			c.left = -1
			return resp, nil
		}
	}
	return nil, errors.New("too many responses of status 1xx")
}

// limited is the connection's reading half.
type limited conn

// Read reads from the connection, what is left of a header's bound at most.
func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return l.tcp.Read(p)
	}
	if l.left == 0 {
		return 0, ErrHeaderTooLong
	}
	n, err := l.tcp.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// responseBody is a response's body, which knows what to do with its connection.
type responseBody struct {
	conn  *conn
	from  io.Reader
	ended bool
}

// Read reads from the body.
func (b *responseBody) Read(p []byte) (int, error) {
	if b.conn == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.from.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

// Close ends the call: it keeps the connection, or closes it.
func (b *responseBody) Close() error {
	c := b.conn
	if c == nil {
		return nil
	}
	b.conn = nil
	if c.stop() && b.ended && c.reuse && c.reader.Buffered() == 0 {
		c.client.put(c)
		return nil
	}
	return c.tcp.Close()
}

func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
