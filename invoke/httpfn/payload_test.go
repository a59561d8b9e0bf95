package httpfn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// seen is what a server saw of a request.
type seen struct {
	header http.Header
	body   []byte
	length int64
	coding []string
}

// eyewitness is a server that answers 200.
func eyewitness(t *testing.T, tls bool) (*httptest.Server, chan seen) {
	t.Helper()
	saw := make(chan seen, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		saw <- seen{r.Header, body, r.ContentLength, r.TransferEncoding}
	}))
	if tls {
		server.EnableHTTP2 = true
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server, saw
}

// rawRequest carries one record as it is.
func rawRequest(r *record.Record) *invoke.Request {
	req := request()
	req.Body = nil
	invoke.NewRawEncoder().Encode(req, []record.Run{{TopicPartition: record.TopicPartition{Topic: r.Topic}, Records: []*record.Record{r}}})
	return req
}

// TestHostileRecordsAreSent is fault 117: CR LF and 0x00 in a record's key, header names and values reach no HTTP header
// unescaped, and the call succeeds, by HTTP/1.1 and HTTP/2.
func TestHostileRecordsAreSent(t *testing.T) {
	r := &record.Record{
		Topic: "t", Key: []byte("k\r\nX-Evil: 1\x00"), Value: []byte("v\r\n\x00"), Timestamp: time.UnixMilli(1),
		Headers: []kgo.RecordHeader{
			{Key: "a\r\nX-Evil: 1\x00", Value: []byte("x\r\nX-Evil: 2\x00")},
			{Key: "content-type", Value: []byte("text/plain\r\nX-Evil: 3")},
		},
	}
	for _, tls := range []bool{false, true} {
		server, saw := eyewitness(t, tls)
		c := Config{URL: server.URL}
		if tls {
			c.TLS = server.Client().Transport.(*http.Transport).TLSClientConfig
		}
		if _, err := newFunction(t, c).Invoke(t.Context(), rawRequest(r)); err != nil {
			t.Fatal(err)
		}
		got := <-saw
		if !bytes.Equal(got.body, r.Value) || got.header.Get("X-Evil") != "" || got.header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%v: %q", got.header, got.body)
		}
		if key, err := url.PathUnescape(got.header.Get("Sluice-Key")); err != nil || key != string(r.Key) {
			t.Errorf("key %q, %v", key, err)
		}
		fields, err := url.ParseQuery(got.header.Get("Sluice-Headers"))
		if err != nil || fields.Get(r.Headers[0].Key) != string(r.Headers[0].Value) || fields.Get("content-type") != string(r.Headers[1].Value) {
			t.Errorf("headers %q, %v", fields, err)
		}
	}
}

func TestHeadersOfARecordDoNotStay(t *testing.T) {
	server, saw := eyewitness(t, false)
	f := newFunction(t, Config{URL: server.URL, Headers: http.Header{"X-Team": {"shop"}}})
	for i := range 3 {
		r := &record.Record{Topic: "t", Key: []byte("k"), Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "content-type", Value: []byte("text/csv")}}}
		if _, err := f.Invoke(t.Context(), rawRequest(r)); err != nil {
			t.Fatal(err)
		}
		got := <-saw
		if got.header.Get("Content-Type") != "text/csv" || got.header.Get("Sluice-Key") != "k" || got.header.Get("X-Team") != "shop" || got.header.Get("Sluice-Mapping") != "orders" {
			t.Errorf("call %d: %v", i, got.header)
		}
		if _, err := f.Invoke(t.Context(), request()); err != nil {
			t.Fatal(err)
		}
		if got = <-saw; got.header.Get("Content-Type") != "application/json" || got.header.Get("Sluice-Key") != "" || string(got.body) != eventText {
			t.Errorf("the event behind it: %v, %s", got.header, got.body)
		}
	}
}

// TestTombstonesAreSent: a record without value is a request without body (fault 119), with a length of 0.
func TestTombstonesAreSent(t *testing.T) {
	server, saw := eyewitness(t, false)
	f := newFunction(t, Config{URL: server.URL})
	for range 3 {
		if _, err := f.Invoke(t.Context(), rawRequest(&record.Record{Topic: "t", Key: []byte("k")})); err != nil {
			t.Fatal(err)
		}
		got := <-saw
		if got.length != 0 || len(got.coding) > 0 || len(got.body) > 0 || got.header.Get("Sluice-Tombstone") != "true" {
			t.Errorf("length %d, coding %v, body %q, %v", got.length, got.coding, got.body, got.header)
		}
	}
	req := request()
	req.Body, req.Header = nil, []invoke.Header{{Name: "Ce-Id", Value: "1"}}
	if _, err := f.Invoke(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := <-saw; got.header["Content-Type"] != nil || got.header.Get("Ce-Id") != "1" {
		t.Errorf("no content type is none: %v", got.header)
	}
}

// TestAFailedTombstoneSpendsAnAttempt: what fails after the headers were sent is the function's failure, though there
// was no body whose first byte would tell; or a function that crashes on a tombstone would be called for ever.
func TestAFailedTombstoneSpendsAnAttempt(t *testing.T) {
	tombstone := func() *invoke.Request { return rawRequest(&record.Record{Topic: "t"}) }
	t.Run("reset", func(t *testing.T) {
		var calls atomic.Int32
		server := httptest.NewServer(hijack(func(c *net.TCPConn) {
			calls.Add(1)
			_ = c.SetLinger(0)
			c.Close()
		}))
		defer server.Close()
		_, err := newFunction(t, Config{URL: server.URL}).Invoke(t.Context(), tombstone())
		checkError(t, err, invoke.FunctionError, true, "")
		if calls.Load() != 1 {
			t.Errorf("%d calls", calls.Load())
		}
	})
	t.Run("no answer", func(t *testing.T) {
		req := tombstone()
		req.Timeout = 80 * time.Millisecond
		_, err := newFunction(t, Config{URL: "http://" + silentListener(t)}).Invoke(t.Context(), req)
		checkError(t, err, invoke.Timeout, true, "")
	})
	t.Run("500", func(t *testing.T) {
		server := httptest.NewServer(answer(500, nil, ""))
		defer server.Close()
		_, err := newFunction(t, Config{URL: server.URL}).Invoke(t.Context(), tombstone())
		checkError(t, err, invoke.FunctionError, true, "")
	})
	t.Run("nobody there", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		_, err = newFunction(t, Config{URL: "http://" + l.Addr().String()}).Invoke(t.Context(), tombstone())
		checkError(t, err, invoke.Unreachable, false, "")
	})
}

// TestADeadConnectionUnderATombstone: nothing but a success or a spent attempt; what must not be is a call that counts as
// never sent, or one that never ends.
func TestADeadConnectionUnderATombstone(t *testing.T) {
	server := httptest.NewServer(answer(200, nil, ""))
	defer server.Close()
	f := newFunction(t, Config{URL: server.URL, IdleConnTimeout: time.Minute})
	for range 50 {
		_, err := f.Invoke(t.Context(), rawRequest(&record.Record{Topic: "t"}))
		var e *invoke.Error
		if err != nil && (!errors.As(err, &e) || !e.Kind.SpendsAttempt()) {
			t.Fatal(err)
		}
		server.CloseClientConnections()
	}
}

// TestTheLargestHeadersStayBeforeTheBody: with all that a configuration and a record may bring, the headers still go out
// in one piece, so that an event counts as sent by its first byte.
func TestTheLargestHeadersStayBeforeTheBody(t *testing.T) {
	r := &record.Record{Topic: strings.Repeat("t", 249), Key: bytes.Repeat([]byte{0}, 1500), Value: []byte("v")}
	for range 1000 {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: "h", Value: []byte("0123456789")})
	}
	server, saw := eyewitness(t, false)
	f := newFunction(t, Config{URL: server.URL, Headers: http.Header{"X-Large": {strings.Repeat("x", headerBytesMax-20)}}})
	if _, err := f.Invoke(t.Context(), rawRequest(r)); err != nil {
		t.Fatal(err)
	}
	got := <-saw
	size := 0
	for name, values := range got.header {
		size += len(name) + len(values[0]) + 4
	}
	if size < headerBytesMax+invoke.HeaderBytesMax-100 || size > writeBufferBytes-500 {
		t.Errorf("%d bytes of headers", size)
	}
}
