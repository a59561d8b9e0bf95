package http1

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers each connection with what handle does, and counts connections.
type server struct {
	net.Listener
	accepted atomic.Int32
	wg       sync.WaitGroup
}

func newServer(t testing.TB, handle func(c *net.TCPConn, r *bufio.Reader)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Listener: l}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			s.wg.Go(func() {
				defer c.Close()
				handle(c.(*net.TCPConn), bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.wg.Wait()
	})
	return s
}

// always reads whole requests and gives each the same answer.
func always(answer string) func(*net.TCPConn, *bufio.Reader) {
	return func(c *net.TCPConn, r *bufio.Reader) {
		for readRequest(r) == nil {
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
		}
	}
}

func readRequest(r *bufio.Reader) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

func newClient(t testing.TB, s *server) *Client {
	c := &Client{
		Dial: func(ctx context.Context) (*net.TCPConn, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, "tcp", s.Addr().String())
			if err != nil {
				return nil, err
			}
			return conn.(*net.TCPConn), nil
		},
		IdleMax: 8, IdleTimeout: time.Minute, HeaderBytesMax: 8 << 10,
	}
	t.Cleanup(c.CloseIdle)
	return c
}

func head(size int) []byte {
	return fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
}

// post sends size bytes and reads the whole response.
func post(ctx context.Context, c *Client, size int) (status int, body string, sent bool, err error) {
	resp, sent, err := c.Send(ctx, head(size), make([]byte, size))
	if err != nil {
		return 0, "", sent, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), sent, err
}

// TestConnections: what is left of a connection after each kind of answer.
func TestConnections(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		status       int
		body         string
		kept         bool
	}{
		{"a length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true},
		{"nothing", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "", true},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", true},
		{"304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", 304, "", true},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\n\r\n", 200, "ok", true},
		{"chunks and a trailer", "HTTP/1.1 200 OK\r\nTrailer: A\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n", 200, "ok", true},
		{"informal responses before", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true},
		{"HTTP/1.0 that keeps alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false},
		{"connection: close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false},
		{"more than was asked for", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n", 200, "ok", false},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", 101, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, always(c.answer))
			client := newClient(t, s)
			for i := range 3 {
				status, body, sent, err := post(t.Context(), client, 10)
				if err != nil || !sent || status != c.status || body != c.body {
					t.Fatalf("call %d: %d %q, sent %v, %v", i, status, body, sent, err)
				}
			}
			if n := s.accepted.Load(); c.kept && n != 1 || !c.kept && n != 3 {
				t.Errorf("%d connections for 3 calls", n)
			}
		})
	}
}

func TestABodyThatEndsWithItsConnection(t *testing.T) {
	s := newServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		_ = readRequest(r)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nall of it")
	})
	client := newClient(t, s)
	for range 2 {
		if status, body, _, err := post(t.Context(), client, 1); status != 200 || body != "all of it" || err != nil {
			t.Errorf("%d %q, %v", status, body, err)
		}
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	for _, c := range []struct{ name, answer, want string }{
		{"nothing", "", ErrNoAnswer.Error()},
		{"half a header", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n", ErrNoAnswer.Error()},
		{"half a line", "HTTP/1.1 200 OK\r\nContent-Le", "malformed"},
		{"another protocol", "SSH-2.0-x\r\n\r\n", "malformed"},
		{"a header without end", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 20<<10), ErrHeaderTooLong.Error()},
		{"headers without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 4<<10), ErrHeaderTooLong.Error()},
		{"informal responses without end", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100), "1xx"},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk", "Content-Length"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, func(conn *net.TCPConn, r *bufio.Reader) {
				_ = readRequest(r)
				_, _ = io.WriteString(conn, c.answer)
			})
			_, _, sent, err := post(t.Context(), newClient(t, s), 10)
			if err == nil || !sent || !strings.Contains(err.Error(), c.want) {
				t.Errorf("sent %v, %v; want %q", sent, err, c.want)
			}
		})
	}
}

// TestADeadKeptConnectionIsReplaced: the server hangs up while the connection is idle. No call is lost or repeated.
func TestADeadKeptConnectionIsReplaced(t *testing.T) {
	var calls atomic.Int32
	s := newServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		if readRequest(r) != nil {
			return
		}
		calls.Add(1)
		if calls.Load()%2 == 0 {
			_ = c.SetLinger(0) // a reset, else a FIN
		}
		_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
	})
	client := newClient(t, s)
	for i := range 50 {
		status, _, sent, err := post(t.Context(), client, 10)
		if i%2 == 1 && err != nil && sent { // the reset may overtake the answer
			continue
		}
		if status != 204 || err != nil {
			t.Fatalf("call %d: %d, sent %v, %v", i, status, sent, err)
		}
		time.Sleep(2 * time.Millisecond) // time for the server to hang up
	}
	if calls.Load() != 50 {
		t.Errorf("%d calls", calls.Load())
	}
}

// TestAnAnswerWithoutReading: the server answers a long request, keeps the connection open and reads no more of it. The
// answer counts, soon, and the connection is not used again.
func TestAnAnswerWithoutReading(t *testing.T) {
	release := make(chan struct{})
	s := newServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
		<-release
	})
	client := newClient(t, s)
	began := time.Now()
	for range 2 {
		status, body, sent, err := post(t.Context(), client, 64<<20)
		if status != 413 || body != "no" || !sent || err != nil {
			t.Errorf("%d %q, sent %v, %v", status, body, sent, err)
		}
	}
	close(release)
	if s.accepted.Load() != 2 || time.Since(began) > 10*time.Second {
		t.Errorf("%d connections, %v", s.accepted.Load(), time.Since(began))
	}
}

// TestASlowReaderGetsEverything: a write that makes little progress is no reason to give up.
func TestASlowReaderGetsEverything(t *testing.T) {
	const size = 16 << 20
	s := newServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for range 2 {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			time.Sleep(4 * stuckAfter)
			n, _ := io.Copy(io.Discard, req.Body)
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%d", len(fmt.Sprint(n)), n)
		}
	})
	client := newClient(t, s)
	for range 2 {
		if _, body, _, err := post(t.Context(), client, size); body != fmt.Sprint(size) || err != nil {
			t.Errorf("%q, %v", body, err)
		}
		time.Sleep(2 * stuckAfter) // the write's deadline must not outlive it
	}
	if s.accepted.Load() != 1 {
		t.Errorf("%d connections", s.accepted.Load())
	}
}

// TestTheContextEndsACall wherever it is: while it writes, while it waits and while it reads.
func TestTheContextEndsACall(t *testing.T) {
	release := make(chan struct{})
	reading := newServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		_ = readRequest(r)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
		<-release
	})
	silent := newServer(t, func(*net.TCPConn, *bufio.Reader) { <-release })
	defer close(release)
	for _, c := range []struct {
		name string
		s    *server
		size int
	}{{"writing", silent, 16 << 20}, {"waiting", silent, 10}, {"reading", reading, 10}} {
		t.Run(c.name, func(t *testing.T) {
			client := newClient(t, c.s)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, _, sent, err := post(ctx, client, c.size)
			if !timedOut(err) || !sent || time.Since(began) > 5*time.Second {
				t.Errorf("sent %v, %v after %v", sent, err, time.Since(began))
			}
			if len(client.idle) > 0 {
				t.Error("the connection was kept")
			}
		})
	}
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	var open atomic.Int32
	s := newServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		open.Add(1)
		defer open.Add(-1)
		always("HTTP/1.1 204 No Content\r\n\r\n")(c, r)
	})
	client := newClient(t, s)
	client.IdleTimeout, client.IdleMax = 50*time.Millisecond, 3
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, _, _, err := post(t.Context(), client, 10); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	client.mu.Lock()
	kept := len(client.idle)
	client.mu.Unlock()
	if kept > 3 {
		t.Errorf("%d connections kept", kept)
	}
	for end := time.Now().Add(10 * time.Second); open.Load() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections open", open.Load())
		}
	}
}

// TestABodyThatIsNotReadCostsItsConnection, and its memory is not another call's.
func TestABodyThatIsNotReadCostsItsConnection(t *testing.T) {
	s := newServer(t, always("HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n"+strings.Repeat("x", 20000)))
	client := newClient(t, s)
	for i := range 3 {
		resp, _, err := client.Send(t.Context(), head(1), []byte("a"))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("read after close: %v", err)
		}
		if n := s.accepted.Load(); int(n) != i+1 {
			t.Errorf("%d connections after %d calls", n, i+1)
		}
	}
}

// FuzzResponse: whatever a server answers, a call ends with a response or an error, and keeps to its bounds.
func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.0 500\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "HTTP/1.1 200 OK\r\nTrailer: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: b\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		s := newServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			_ = readRequest(r)
			_, _ = c.Write(answer)
		})
		resp, _, err := newClient(t, s).Send(t.Context(), head(3), []byte("abc"))
		if err != nil {
			return
		}
		n, _ := io.Copy(io.Discard, resp.Body)
		if n > int64(len(answer)) || bytes.Count(answer, []byte("\n")) == 0 {
			t.Errorf("%d bytes of body from an answer of %d", n, len(answer))
		}
		_ = resp.Body.Close()
	})
}
