package httpfn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// refusalWait is how long a failed write waits for an answer that may have come before it.
const refusalWait = 100 * time.Millisecond

// errDead says that a connection was found dead before any of an event was sent on it.
var errDead = errors.New("the server closed the connection before the event was sent")

// patientConn gives the answer precedence over a failed write. A target that refuses an event unread (413, 401)
// answers and hangs up; our write fails at the same moment, and net/http would report whichever it sees first. So
// a write that failed waits until the answer has been read, which ends with the connection being closed.
type patientConn struct {
	*net.TCPConn
	once   sync.Once
	closed chan struct{}
}

// Write writes, and waits if that fails.
func (c *patientConn) Write(p []byte) (int, error) {
	n, err := c.TCPConn.Write(p)
	if err != nil {
		c.wait()
	}
	return n, err
}

// Close closes the connection.
func (c *patientConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.TCPConn.Close()
}

func (c *patientConn) wait() {
	timer := time.NewTimer(refusalWait)
	defer timer.Stop()
	select {
	case <-c.closed:
	case <-timer.C:
	}
}

// plainConn is a connection for HTTP/1.1 without TLS. It sends a request's headers and its event in one go, straight
// out of the event's memory: net/http would write them apart, and copy what is beyond its write buffer through
// 32 KiB that it allocates for each call. And it looks whether the server has hung up before it sends anything.
//
// Its writing half is used by one goroutine at a time.
type plainConn struct {
	*patientConn
	raw  syscall.RawConn
	head []byte // headers that wait for their event
}

func newPlainConn(c *patientConn) *plainConn {
	raw, _ := c.SyscallConn() // fails on a closed connection only, and then every write does
	return &plainConn{patientConn: c, raw: raw}
}

// Write gets the headers of a request: net/http flushes them before it comes to a body that it does not know. They
// are held until ReadFrom brings the event. Should net/http ever do otherwise, the next Write sends them along.
func (c *plainConn) Write(p []byte) (int, error) {
	if len(c.head) == 0 && bytes.HasSuffix(p, []byte("\r\n\r\n")) && !bytes.Contains(p, []byte("\r\nContent-Length: 0\r\n")) {
		c.head = append(c.head, p...)
		return len(p), nil
	}
	if len(c.head) > 0 {
		if _, err := c.patientConn.Write(c.takeHead()); err != nil {
			return 0, err
		}
	}
	return c.patientConn.Write(p)
}

// ReadFrom gets the event.
func (c *plainConn) ReadFrom(r io.Reader) (int64, error) {
	limited, ok := r.(*io.LimitedReader)
	if !ok {
		return io.Copy(struct{ io.Writer }{c}, r)
	}
	event, ok := limited.R.(*body)
	if !ok {
		return io.Copy(struct{ io.Writer }{c}, r)
	}
	if len(c.head) > 0 && hungUp(c.raw) {
		return 0, errDead
	}
	n, err := event.writeTo(c.TCPConn, c.takeHead(), limited.N)
	limited.N -= n
	if err != nil && err != io.EOF {
		c.wait()
		if n == 0 {
			err = fmt.Errorf("%w: %w", errDead, err)
		}
	}
	return n, err
}

func (c *plainConn) takeHead() []byte {
	head := c.head
	c.head = c.head[:0]
	return head
}
