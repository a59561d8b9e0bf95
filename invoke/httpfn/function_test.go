package httpfn

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestTheRequest(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	f := newFunction(t, Config{
		URL:     strings.Replace(server.URL, "http://", "http://svc:pa%20ss@", 1) + "/a%2Fb/c?q=1",
		Headers: http.Header{"x-team": {"shop"}, "Host": {"orders.internal"}},
	})
	req := request()
	req.Mapping, req.Attempt = "größe\r\nX-Evil: 1", 3
	if _, err := f.Invoke(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got.Method != "POST" || got.RequestURI != "/a%2Fb/c?q=1" || got.Host != "orders.internal" || string(body) != eventText || got.ContentLength != int64(len(eventText)) {
		t.Errorf("%s %s, host %s, %d bytes: %s", got.Method, got.RequestURI, got.Host, got.ContentLength, body)
	}
	want := map[string]string{
		"Content-Type": "application/json", "User-Agent": "sluice", "X-Team": "shop",
		"Sluice-Mapping": "gr%C3%B6%C3%9Fe%0D%0AX-Evil:%201", "Sluice-Attempt": "3", "Sluice-Batch-Id": req.BatchID,
		"Accept-Encoding": "", "Expect": "", "X-Evil": "",
	}
	for name, value := range want {
		if got.Header.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, got.Header.Get(name), value)
		}
	}
	if user, password, _ := got.BasicAuth(); user != "svc" || password != "pa ss" {
		t.Errorf("authorisation %q, %q", user, password)
	}
	if tp := got.Header.Get("Traceparent"); !regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`).MatchString(tp) {
		t.Errorf("traceparent %q", tp)
	}
}

func TestEveryCallIsATraceOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		seen[traceparent()] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d traces of 1000 calls", len(seen))
	}
}

// TestBinaryRecordHeadersStayInTheBody: a record's headers are data, whatever bytes they hold.
func TestBinaryRecordHeadersStayInTheBody(t *testing.T) {
	var header http.Header
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	rec := &record.Record{Topic: "t", Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "a\r\nX-Evil: 1\x00", Value: []byte("x\r\nX-Evil: 2\x00")}}}
	req := request()
	req.Body = invoke.NewEncoder(invoke.Source{}).Append(nil, []record.Run{{TopicPartition: record.TopicPartition{Topic: "t"}, Records: []*record.Record{rec}}})
	if _, err := newFunction(t, Config{URL: server.URL}).Invoke(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(body, req.Body) || header.Get("X-Evil") != "" {
		t.Errorf("header %v, body %s", header, body)
	}
}

func TestTheResponseIsHandedOverWhereItIsWanted(t *testing.T) {
	var size atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Query().Has("chunked") {
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(bytes.Repeat([]byte("x"), int(size.Load())))
	}))
	defer server.Close()
	for _, query := range []string{"", "?chunked"} {
		f := newFunction(t, Config{URL: server.URL + query})
		for _, n := range []int{0, 1, 511, 512, 513, 100_000, invoke.ResponseBytesMax} {
			size.Store(int64(n))
			for _, buf := range [][]byte{nil, make([]byte, 0, 600)} {
				req := request()
				req.WantBody, req.Buffer = true, buf
				res, err := f.Invoke(t.Context(), req)
				if err != nil || len(res.Body) != n || n > 0 && res.Body[n-1] != 'x' {
					t.Fatalf("%d bytes, %v; want %d", len(res.Body), err, n)
				}
				if buf != nil && n > 0 && n < 600 && &res.Body[0] != &buf[:1][0] {
					t.Errorf("a response of %d bytes did not use the buffer of 600", n)
				}
			}
			res, err := f.Invoke(t.Context(), request())
			if err != nil || res.Body != nil {
				t.Fatalf("unasked: %d bytes, %v", len(res.Body), err)
			}
		}
	}
}

func TestALongResponseIsBounded(t *testing.T) {
	for _, c := range []struct {
		name    string
		declare bool // by Content-Length
		status  int
		kind    invoke.Kind
	}{
		{"declared", true, 200, invoke.Malformed},
		{"without end", false, 200, invoke.Malformed},
		{"an error without end", false, 500, invoke.FunctionError},
	} {
		for _, want := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/wanted=%v", c.name, want), func(t *testing.T) {
				var sent atomic.Int64
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if c.declare {
						w.Header().Set("Content-Length", fmt.Sprint(invoke.ResponseBytesMax+1))
					}
					w.WriteHeader(c.status)
					chunk := make([]byte, 64<<10)
					for {
						n, err := w.Write(chunk)
						sent.Add(int64(n))
						if err != nil {
							return
						}
					}
				}))
				defer server.Close()
				req := request()
				req.WantBody = want
				_, err := newFunction(t, Config{URL: server.URL}).Invoke(t.Context(), req)
				checkError(t, err, c.kind, true, "")
				if n := sent.Load(); n > invoke.ResponseBytesMax+16<<20 { // the rest is what sockets hold
					t.Errorf("the server got rid of %d bytes", n)
				}
			})
		}
	}
}

func TestADrippingResponseTimesOut(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}))
	defer server.Close()
	for _, want := range []bool{false, true} {
		req := request()
		req.WantBody, req.Timeout = want, 80*time.Millisecond
		start := time.Now()
		_, err := newFunction(t, Config{URL: server.URL}).Invoke(t.Context(), req)
		checkError(t, err, invoke.Timeout, true, "reading the response")
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("took %v", d)
		}
	}
}

// TestAHungConnectionTimesOut: the target accepts and never reads; the event does not fit into the sockets.
func TestAHungConnectionTimesOut(t *testing.T) {
	req := request()
	req.Body, req.Timeout = make([]byte, 32<<20), 80*time.Millisecond
	start := time.Now()
	_, err := newFunction(t, Config{URL: "http://" + silentListener(t)}).Invoke(t.Context(), req)
	checkError(t, err, invoke.Timeout, true, "")
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
}

// TestConnectionsAreUsedAgain: as many connections as calls at once, over answers of every sort.
func TestConnectionsAreUsedAgain(t *testing.T) {
	var connections, calls atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if calls.Add(1)%3 == 0 {
			w.WriteHeader(500)
		}
		_, _ = w.Write(make([]byte, 100_000))
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	f := newFunction(t, Config{URL: server.URL, IdleConnTimeout: time.Minute})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				_, _ = f.Invoke(t.Context(), request())
			}
		})
	}
	wg.Wait()
	// net/http may dial for a call that a freed connection then serves first: some above 8 are its own.
	if n := connections.Load(); n > 16 {
		t.Errorf("%d connections for 8 calls at once", n)
	}
}

// TestADeadIdleConnectionCostsNoAttempt: the server has closed or reset the idle connections, which the Transport
// may notice before, while or after it picks one for the next call.
func TestADeadIdleConnectionCostsNoAttempt(t *testing.T) {
	var mu sync.Mutex
	var conns []net.Conn
	server := httptest.NewUnstartedServer(answer(200, nil, ""))
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateNew {
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
		}
	}
	server.Start()
	defer server.Close()
	f := newFunction(t, Config{URL: server.URL, IdleConnTimeout: time.Minute})
	for i := range 300 {
		var wg sync.WaitGroup
		for range 1 + i%4 {
			wg.Go(func() {
				if _, err := f.Invoke(t.Context(), request()); err != nil {
					t.Errorf("round %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		mu.Lock()
		for _, c := range conns {
			if i%2 == 0 {
				_ = c.(*net.TCPConn).SetLinger(0) // a reset
			}
			c.Close()
		}
		conns = nil
		mu.Unlock()
	}
}

func TestHTTP2(t *testing.T) {
	var proto atomic.Value
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		proto.Store(r.Proto)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	f := newFunction(t, Config{URL: server.URL, TLS: &tls.Config{RootCAs: roots}})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 30 {
				req := request()
				req.Body = bytes.Repeat([]byte("x"), 1+i*10_000)
				if _, err := f.Invoke(t.Context(), req); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if proto.Load() != "HTTP/2.0" {
		t.Errorf("spoke %v", proto.Load())
	}
}

// TestAnEarlyRefusalIsHeard: the target answers 413 and hangs up without reading the event. The answer counts, not
// the broken connection, or the batch would be repeated instead of split.
func TestAnEarlyRefusalIsHeard(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1024))
			_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			c.Close() // with bytes unread: a reset follows
		}
	}()
	f := newFunction(t, Config{URL: "http://" + l.Addr().String()})
	for i := range 100 {
		req := request()
		req.Body = make([]byte, 2000+i*20_000)
		_, err := f.Invoke(t.Context(), req)
		checkError(t, err, invoke.TooLarge, false, "")
	}
}

// TestTheBufferIsFreeAfterTheCall: the target answers before it has read the event and reads on afterwards. The
// buffer is filled with something else as soon as Invoke is back: the old connection must never carry that.
func TestTheBufferIsFreeAfterTheCall(t *testing.T) {
	for _, timeout := range []time.Duration{5 * time.Second, 20 * time.Millisecond} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if timeout > time.Second { // an early answer, else none at all
				_ = http.NewResponseController(w).EnableFullDuplex()
				w.WriteHeader(200)
				w.(http.Flusher).Flush()
			}
			time.Sleep(30 * time.Millisecond)
			text, _ := io.ReadAll(r.Body)
			if bytes.Contains(text, []byte("b")) {
				t.Error("the event of one call holds bytes of the next")
			}
		}))
		f := newFunction(t, Config{URL: server.URL})
		for range 5 {
			req := request()
			req.Body, req.Timeout = bytes.Repeat([]byte("a"), 4<<20), timeout
			_, _ = f.Invoke(t.Context(), req)
			for i := range req.Body {
				req.Body[i] = 'b'
			}
		}
		server.CloseClientConnections()
		server.Close()
	}
}

func TestErrorInBody(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kind       invoke.Kind // 0: no error
		want       string
	}{
		{"nothing", "", 0, ""},
		{"a result", `{"ok":true}`, 0, ""},
		{"text", "done", 0, ""},
		{"an error", ` {"errorMessage":"m","errorType":"T","stackTrace":["errorType"]} `, invoke.FunctionError, "T: m"},
		{"an error with empty words", `{"errorMessage":"","errorType":""}`, invoke.FunctionError, ""},
		{"an error whose message is an object", `{"errorMessage":{"a":1},"errorType":"T"}`, invoke.FunctionError, `T: {"a":1}`},
		{"only a type", `{"errorType":"T"}`, 0, ""},
		{"only a message", `{"errorMessage":"m"}`, 0, ""},
		{"no type", `{"errorMessage":"m","errorType":null}`, 0, ""},
		{"both further down", `{"result":{"errorMessage":"m","errorType":"T"}}`, 0, ""},
		{"both in strings", `{"a":"\"errorType\"","b":["errorType","errorMessage"]}`, 0, ""},
		{"other letters", `{"ErrorMessage":"m","ErrorType":"T"}`, 0, ""},
		{"in a list", `[{"errorMessage":"m","errorType":"T"}]`, 0, ""},
		{"broken JSON", `{"errorMessage":"m","errorType":"T"`, 0, ""},
		{"the emulator's time-out", "Task timed out after 12.00 seconds\n", invoke.Timeout, "Task timed out after 12.00 seconds"},
		{"text about a time-out", "Task timed out after a while", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := errorInBody(200, []byte(c.body))
			if (e == nil) != (c.kind == 0) {
				t.Fatalf("error %v", e)
			}
			if e != nil && (e.Kind != c.kind || !strings.HasSuffix(e.Error(), c.want)) {
				t.Errorf("error %v, want %v and %q", e, c.kind, c.want)
			}
		})
	}
}

func TestWordsAreCut(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	for _, body := range []string{long, `{"errorType":"` + long + `","errorMessage":"` + long + `"}`, `{"message":"` + strings.Repeat("x", errorBytesMax)} {
		e := &invoke.Error{}
		explain(e, http.Header{}, []byte(body))
		if len(e.Type) > typeBytesMax || len(e.Message) > messageBytesMax || e.Message == "" {
			t.Errorf("type of %d, message of %d bytes", len(e.Type), len(e.Message))
		}
	}
	e := &invoke.Error{}
	explain(e, http.Header{}, []byte("\x1b[31mred\x00\xff\r\n"))
	if e.Message != "[31mred \ufffd" {
		t.Errorf("message %q", e.Message)
	}
}

func FuzzErrorInBody(f *testing.F) {
	f.Add([]byte(`{"errorMessage":"m","errorType":"T"}`))
	f.Add([]byte("Task timed out after 3.00 seconds"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if e := errorInBody(200, body); e != nil && !e.Kind.SpendsAttempt() {
			t.Errorf("kind %v", e.Kind)
		}
		e := &invoke.Error{}
		explain(e, http.Header{}, body)
		if len(e.Type) > typeBytesMax || len(e.Message) > messageBytesMax {
			t.Errorf("type of %d, message of %d bytes", len(e.Type), len(e.Message))
		}
	})
}

func TestConfigMistakesComeAllAtOnce(t *testing.T) {
	_, err := New(Config{
		Name: "f", URL: "http://secret:secret@", Timeout: -1, ErrorDetection: "x", MaxIdleConns: -1,
		Headers: http.Header{"Sluice-Attempt": {"1"}, "a b": {"c"}, "X": {"a\r\nsecret"}, "Content-Length": {"1"}, "Y": {strings.Repeat("y", headerBytesMax)}},
	})
	for _, want := range []string{"f.url: no host", "f.timeout: -1ns", "f.errorDetection: \"x\"", "f.maxIdleConns: -1", "\"Sluice-Attempt\" is set by Sluice", "\"a b\" is not a header name", "f.headers.X: the value holds control", "\"Content-Length\" is the connection's own", "want at most 8192"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("error shows a secret:\n%v", err)
	}
	if _, err := New(Config{Name: "f", URL: "http://a b:secret/%zz"}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

// BenchmarkInvoke measures a call over loopback, both ends in this process.
func BenchmarkInvoke(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer server.Close()
	for _, size := range []int{1 << 10, 16 << 10, 140 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("event=%d", size), func(b *testing.B) {
			f := newFunction(b, Config{URL: server.URL})
			req := request()
			req.Body, req.Timeout = make([]byte, size), 0
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Invoke(ctx, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
