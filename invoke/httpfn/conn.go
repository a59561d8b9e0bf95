package httpfn

import (
	"net"
	"sync"
	"time"
)

// refusalWait is how long a failed write waits for an answer that may have come before it.
const refusalWait = 100 * time.Millisecond

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
