package httpfn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/invoke"
)

const eventText = `{"eventSource":"SelfManagedKafka","bootstrapServers":"b:9092","records":{}}`

func request() *invoke.Request {
	return &invoke.Request{Mapping: "orders", Attempt: 1, BatchID: strings.Repeat("0a", 16), Body: []byte(eventText), Timeout: 5 * time.Second}
}

func newFunction(t testing.TB, c Config) *Function {
	t.Helper()
	if c.Name == "" {
		c.Name = "orders-fn"
	}
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// answer is a server that reads the request and answers as the case says.
func answer(status int, header map[string]string, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hijack is a server that reads the request and then does with the connection as the case says.
func hijack(do func(c *net.TCPConn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		do(c.(*net.TCPConn))
	}
}

// TestTheAttemptTable is product contract, «Functions»: for every outcome its kind, whether it spends a retry attempt
// and how long the target asks us to wait.
func TestTheAttemptTable(t *testing.T) {
	const no, yes = false, true
	invokePath := "/2015-03-31/functions/function/invocations"
	date := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	for _, c := range []struct {
		name     string
		server   http.HandlerFunc
		config   Config
		path     string
		change   func(r *invoke.Request)
		kind     invoke.Kind // 0: success
		attempt  bool
		wait     time.Duration
		contains string // in the error's text or hint
	}{
		{name: "200", server: answer(200, nil, "ok")},
		{name: "202", server: answer(202, nil, "")},
		{name: "204", server: answer(204, nil, "")},
		{name: "200 with a body that looks like an error, told by header", server: answer(200, nil, `{"errorType":"E","errorMessage":"m"}`)},

		{name: "200 with X-Amz-Function-Error", server: answer(200, map[string]string{"x-amz-function-error": "Unhandled"}, `{"errorMessage":"boom","errorType":"ValueError"}`), kind: invoke.FunctionError, attempt: yes, contains: "status 200: ValueError: boom"},
		{name: "200 with X-Amz-Function-Error and no words", server: answer(200, map[string]string{"x-amz-function-error": "Unhandled"}, ``), kind: invoke.FunctionError, attempt: yes, contains: "status 200: Unhandled"},
		{name: "200 with an error in the body where the path is Invoke's", server: answer(200, nil, `{"errorMessage":"boom","errorType":"ValueError","stackTrace":[]}`), path: invokePath, kind: invoke.FunctionError, attempt: yes, contains: "ValueError: boom"},
		{name: "200 with an error in the body where the body is asked", server: answer(200, nil, `{"errorMessage":"boom","errorType":"ValueError"}`), config: Config{ErrorDetection: DetectBody}, kind: invoke.FunctionError, attempt: yes},
		{name: "200 with an error in the body of Invoke's path, told by header", server: answer(200, nil, `{"errorMessage":"boom","errorType":"ValueError"}`), path: invokePath, config: Config{ErrorDetection: DetectHeader}},
		{name: "200 with the emulator's time-out", server: answer(200, nil, "Task timed out after 3.00 seconds"), path: invokePath, kind: invoke.Timeout, attempt: yes, contains: "Task timed out"},

		{name: "400", server: answer(400, nil, `{"message":"bad"}`), kind: invoke.FunctionError, attempt: yes, contains: "status 400: bad"},
		{name: "400 from the emulator", server: answer(400, nil, ``), path: invokePath, kind: invoke.FunctionError, attempt: yes, contains: "one call at a time"},
		{name: "401", server: answer(401, nil, "who are you"), kind: invoke.Denied, attempt: yes, contains: "functions.orders-fn.headers"},
		{name: "403", server: answer(403, map[string]string{"x-amzn-ErrorType": "AccessDeniedException:http://internal"}, `{"Message":"not you"}`), kind: invoke.Denied, attempt: yes, contains: "status 403: AccessDeniedException: not you"},
		{name: "404", server: answer(404, nil, "404 page not found\n"), kind: invoke.FunctionError, attempt: yes, contains: "404 page not found"},
		{name: "409", server: answer(409, nil, ""), kind: invoke.FunctionError, attempt: yes},
		{name: "422", server: answer(422, nil, ""), kind: invoke.FunctionError, attempt: yes},
		{name: "499", server: answer(499, nil, ""), kind: invoke.FunctionError, attempt: yes},
		{name: "500", server: answer(500, map[string]string{"Retry-After": "7"}, `{"errorType":"E","errorMessage":"m"}`), kind: invoke.FunctionError, attempt: yes, contains: "status 500: E: m"},
		{name: "501", server: answer(501, nil, ""), kind: invoke.FunctionError, attempt: yes},
		{name: "502", server: answer(502, map[string]string{"Content-Type": "text/html"}, "<html>Bad Gateway"), kind: invoke.FunctionError, attempt: yes, contains: "FunctionError: status 502"},
		{name: "504", server: answer(504, nil, ""), kind: invoke.FunctionError, attempt: yes},

		{name: "408", server: answer(408, map[string]string{"Retry-After": "2"}, ""), kind: invoke.Throttled, attempt: no, wait: 2 * time.Second},
		{name: "429 without Retry-After", server: answer(429, nil, ""), kind: invoke.Throttled, attempt: no},
		{name: "429 with Retry-After in seconds", server: answer(429, map[string]string{"Retry-After": "5"}, `{"Reason":"CallerRateLimitExceeded","message":"Rate exceeded"}`), kind: invoke.Throttled, attempt: no, wait: 5 * time.Second, contains: "Rate exceeded"},
		{name: "503 with Retry-After as a date", server: answer(503, map[string]string{"Retry-After": date}, ""), kind: invoke.Throttled, attempt: no, wait: 90 * time.Second},
		{name: "503 with a Retry-After of days", server: answer(503, map[string]string{"Retry-After": "604800"}, ""), kind: invoke.Throttled, attempt: no, wait: 15 * time.Minute},
		{name: "503 with a Retry-After that is none", server: answer(503, map[string]string{"Retry-After": "soon"}, ""), kind: invoke.Throttled, attempt: no},
		{name: "413", server: answer(413, nil, "too big"), kind: invoke.TooLarge, attempt: no},

		{name: "301 is not followed", server: answer(301, map[string]string{"Location": "https://user:secret@elsewhere.example.com/fn?token=secret"}, ""), kind: invoke.FunctionError, attempt: yes, contains: "(https://elsewhere.example.com/fn)"},
		{name: "307 is not followed", server: answer(307, map[string]string{"Location": "/other"}, ""), kind: invoke.FunctionError, attempt: yes, contains: "never followed"},
		{name: "101", server: hijack(func(c *net.TCPConn) {
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			_, _ = io.Copy(io.Discard, c)
		}), kind: invoke.FunctionError, attempt: yes, contains: "status 101"},

		{name: "EOF after sending", server: hijack(func(*net.TCPConn) {}), kind: invoke.FunctionError, attempt: yes},
		{name: "reset after sending", server: hijack(func(c *net.TCPConn) { _ = c.SetLinger(0) }), kind: invoke.FunctionError, attempt: yes},
		{name: "an answer that is not HTTP", server: hijack(func(c *net.TCPConn) { _, _ = io.WriteString(c, "SSH-2.0-x\r\n\r\n") }), kind: invoke.FunctionError, attempt: yes},
		{name: "a body that breaks off", server: hijack(func(c *net.TCPConn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}")
		}), kind: invoke.Malformed, attempt: yes, contains: "reading the response"},
		{name: "a wanted body that breaks off", server: hijack(func(c *net.TCPConn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")
			_ = c.SetLinger(0)
		}), change: func(r *invoke.Request) { r.WantBody = true }, kind: invoke.Malformed, attempt: yes},
		{name: "an error body that breaks off", server: hijack(func(c *net.TCPConn) {
			_, _ = io.WriteString(c, "HTTP/1.1 503 No\r\nRetry-After: 3\r\nContent-Length: 10\r\n\r\nbu")
		}), kind: invoke.Throttled, attempt: no, wait: 3 * time.Second},
		{name: "no answer in time", server: hang, change: func(r *invoke.Request) { r.Timeout = 50 * time.Millisecond }, kind: invoke.Timeout, attempt: yes},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.server)
			defer server.Close()
			defer server.CloseClientConnections()
			c.config.URL = server.URL + c.path
			f := newFunction(t, c.config)
			req := request()
			if c.change != nil {
				c.change(req)
			}
			res, err := f.Invoke(t.Context(), req)
			if c.kind == 0 {
				if err != nil || res.Status/100 != 2 {
					t.Fatalf("status %d, error %v, want success", res.Status, err)
				}
				return
			}
			e := checkError(t, err, c.kind, c.attempt, c.contains)
			if d := c.wait - e.RetryAfter; d < 0 || d > 2*time.Second || c.wait == 0 && d != 0 {
				t.Errorf("asked to wait %v, want %v", e.RetryAfter, c.wait)
			}
		})
	}
}

func checkError(t *testing.T, err error, kind invoke.Kind, attempt bool, contains string) *invoke.Error {
	t.Helper()
	var e *invoke.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T), want an *invoke.Error", err, err)
	}
	if e.Kind != kind || e.Kind.SpendsAttempt() != attempt {
		t.Errorf("%v: kind %v, spends an attempt: %v; want %v, %v", err, e.Kind, e.Kind.SpendsAttempt(), kind, attempt)
	}
	if !strings.Contains(e.Error()+"\n"+e.Hint, contains) {
		t.Errorf("error %q with hint %q lacks %q", e, e.Hint, contains)
	}
	if strings.Contains(e.Error()+e.Hint, "secret") {
		t.Errorf("error %q with hint %q shows a secret", e, e.Hint)
	}
	return e
}

// hang reads the request and answers when the client has gone.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// TestWhatKeepsAnEventFromBeingSent is the rest of the table: nothing was sent, no attempt is spent.
func TestWhatKeepsAnEventFromBeingSent(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	plain := httptest.NewServer(answer(200, nil, ""))
	defer plain.Close()
	secure := httptest.NewTLSServer(answer(200, nil, ""))
	secure.Config.ErrorLog = quiet()
	defer secure.Close()
	noCertificate := httptest.NewUnstartedServer(answer(200, nil, ""))
	noCertificate.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	noCertificate.Config.ErrorLog = quiet()
	noCertificate.StartTLS()
	defer noCertificate.Close()
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	silent := silentListener(t)

	for _, c := range []struct {
		name, url string
		tls       *tls.Config
		dial      error
		contains  string
	}{
		{name: "connection refused", url: "http://user:secret@" + closed.Addr().String(), contains: "nothing listens at functions.orders-fn.url"},
		{name: "no such host", url: "http://fn.example.com", dial: &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "fn.example.com", IsNotFound: true}}, contains: "has no address"},
		{name: "no route to the host", url: "http://fn.example.com", dial: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.EHOSTUNREACH}, contains: "no route"},
		{name: "no route to the network", url: "http://fn.example.com", dial: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETUNREACH}, contains: "no route"},
		{name: "a connection that times out", url: "http://fn.example.com", dial: &net.OpError{Op: "dial", Net: "tcp", Err: errTimeout{}}, contains: "firewall"},
		{name: "a certificate of an unknown authority", url: secure.URL, contains: "authority is not trusted"},
		{name: "a certificate for another host", url: secure.URL, tls: &tls.Config{RootCAs: roots, ServerName: "elsewhere.test"}, contains: "does not fit the host"},
		{name: "a refused handshake", url: noCertificate.URL, tls: &tls.Config{InsecureSkipVerify: true}, contains: "refused the TLS handshake"},
		{name: "TLS to a port without", url: strings.Replace(plain.URL, "http:", "https:", 1), contains: "functions.orders-fn.url"},
		{name: "a handshake that is never answered", url: "https://" + silent, contains: "no connection came about in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := Config{URL: c.url, TLS: c.tls}
			if c.dial != nil {
				transport := NewTransport(config)
				transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, c.dial }
				config.Transport = transport
			}
			f := newFunction(t, config)
			req := request()
			if strings.Contains(c.name, "never answered") {
				req.Timeout = 50 * time.Millisecond
			}
			_, err := f.Invoke(t.Context(), req)
			checkError(t, err, invoke.Unreachable, false, c.contains)
		})
	}
}

type errTimeout struct{}

func (errTimeout) Error() string   { return "i/o timeout" }
func (errTimeout) Timeout() bool   { return true }
func (errTimeout) Temporary() bool { return true }

func TestACallThatWeGaveUpIsCanceled(t *testing.T) {
	started := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(started)
		hang(w, r)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-started
		cancel(errors.New("partition revoked"))
	}()
	_, err := newFunction(t, Config{URL: server.URL}).Invoke(ctx, request())
	checkError(t, err, invoke.Canceled, false, "partition revoked")
}

func TestTheDeadlineOfTheContextIsATimeout(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(hang))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req := request()
	req.Timeout = 0
	_, err := newFunction(t, Config{URL: server.URL}).Invoke(ctx, req)
	checkError(t, err, invoke.Timeout, true, "")
}

func TestTheFunctionsOwnTimeoutBoundsACallThatBringsNone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(hang))
	defer server.Close()
	req := request()
	req.Timeout = 0
	_, err := newFunction(t, Config{URL: server.URL, Timeout: 300 * time.Millisecond}).Invoke(t.Context(), req)
	checkError(t, err, invoke.Timeout, true, "")
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "1": time.Second, "899": 899 * time.Second, "900": 15 * time.Minute, "901": 15 * time.Minute,
		"18446744073709551615": 15 * time.Minute, "-1": 0, "1.5": 0, "x": 0,
		"Tue, 01 Dec 2026 12:00:30 GMT": 30 * time.Second, "Tue, 01 Dec 2026 11:00:00 GMT": 0,
		"Tue, 01 Dec 2026 13:00:00 GMT": 15 * time.Minute, "Tuesday, 01-Dec-26 12:00:01 GMT": time.Second,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("Retry-After %q: %v, want %v", value, got, want)
		}
	}
}

// silentListener accepts connections and says nothing.
func silentListener(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
		}
	}()
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func ExampleNew() {
	_, err := New(Config{Name: "orders", URL: "ftp://user:secret@host/", ErrorDetection: "guess"})
	fmt.Println(err)
	// Output:
	// functions.orders.url: scheme "ftp"; want http or https
	// functions.orders.errorDetection: "guess"; want auto, header or body
}
