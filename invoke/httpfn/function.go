// Package httpfn invokes functions over HTTP: a batch is one POST of the Kafka event to the function's URL.
//
// It turns what HTTP and the network say into the invoke room's closed kinds of errors: that table is in status.go
// and failed.go, and is product contract. It never repeats a call that may have reached the function and follows no
// redirect; waiting, retrying and splitting are the failure room's, concurrency is the poller's.
//
// # What counts as sent
//
// An event counts as sent from the moment that its first byte is given to a connection. Whatever goes wrong before
// (no address, connection refused, TLS handshake) is Unreachable and spends no attempt; whatever goes wrong after is
// the function's failure, because the function may have run. A kept-alive connection that turns out to be closed
// before the event was sent is replaced by a new one within the same call. One case cannot be told apart: the server
// closes a kept-alive connection in the very moment in which the event is on its way (with TLS, in which it is being
// encrypted). It spends an attempt. To keep it rare, connections are closed here once they have been idle for 1.5 s,
// before the servers that we know of do (gunicorn after 2 s, Node.js and uvicorn after 5 s).
package httpfn

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/invoke"
)

// Function is a function behind a URL. It is safe for concurrent use, and has its own connections.
type Function struct {
	name      string
	timeout   time.Duration
	inBody    bool // errors are told by the body as well
	emulator  bool // the path is that of Lambda's Invoke API
	means     atomic.Pointer[means]
	renewal   *renewal  // nil where nothing can change
	exchanges sync.Pool // of *exchange: what one request needs, used again
}

var _ invoke.Function = (*Function)(nil)

// exchange is the memory of one request and its response.
type exchange struct {
	means   *means // whose headers are in header
	scratch [4 << 10]byte
	head    []byte // of a plain request
	// For the Transport.
	header   http.Header
	values   [4]string // what of the header differs from call to call
	event    event
	answered bool // by a response: the Transport is done with the headers
}

// The request's headers of ours, in canonical spelling, so that they can be put into the map as they are.
const (
	headerMapping     = "Sluice-Mapping"
	headerAttempt     = "Sluice-Attempt"
	headerBatchID     = "Sluice-Batch-Id"
	headerTraceparent = "Traceparent"
)

// New returns the function that c describes. It connects to nobody. Errors name the field, all of them at once.
func New(c Config) (*Function, error) {
	u, err := c.check()
	if err != nil {
		return nil, err
	}
	f := &Function{name: c.Name, timeout: c.Timeout, emulator: isInvokePath(u)}
	if f.timeout == 0 {
		f.timeout = TimeoutDefault
	}
	f.inBody = c.ErrorDetection == DetectBody || c.ErrorDetection != DetectHeader && f.emulator
	if f.renewal, err = newRenewal(&c, u); err != nil {
		return nil, err
	}
	f.means.Store(newMeans(&c, u))
	return f, nil
}

func newExchange(m *means) *exchange {
	x := &exchange{means: m}
	if m.plain != nil {
		return x
	}
	x.header = m.base.Header.Clone()
	for i, name := range []string{headerMapping, headerAttempt, headerBatchID, headerTraceparent} {
		x.header[name] = x.values[i : i+1 : i+1]
	}
	return x
}

// Close closes the connections that are idle. It is for a function that is not invoked any more: net/http may count a
// connection as idle a moment before the call on it has its response.
func (f *Function) Close() {
	f.means.Load().close()
}

// Invoke sends the event and reads the response, within req.Timeout; where that is 0, within ctx's deadline, and
// where there is none either, within the function's own time-out. Once it has returned, nothing reads req.Body,
// whatever became of the call.
func (f *Function) Invoke(ctx context.Context, req *invoke.Request) (invoke.Response, error) {
	timeout := req.Timeout
	if timeout == 0 {
		if _, bounded := ctx.Deadline(); !bounded {
			timeout = f.timeout
		}
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	m := f.now()
	x := f.exchangeFor(m)
	res, failure := f.exchange(ctx, x, req)
	if m.plain != nil || x.event.release() && x.answered {
		f.exchanges.Put(x)
	} // else the Transport may still be using it: left to the garbage collector
	if failure != nil {
		return invoke.Response{}, failure
	}
	return res, nil
}

// exchangeFor returns the memory of a request by those means, used before or new.
func (f *Function) exchangeFor(m *means) *exchange {
	if x, ok := f.exchanges.Get().(*exchange); ok && x.means == m {
		return x
	}
	return newExchange(m)
}

func (f *Function) exchange(ctx context.Context, x *exchange, req *invoke.Request) (invoke.Response, *invoke.Error) {
	resp, failure := f.send(ctx, x, req)
	if failure != nil {
		return invoke.Response{}, failure
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 || len(resp.Header[headerFunctionError]) > 0 {
		return invoke.Response{}, f.refused(resp)
	}
	return f.succeeded(ctx, x, req, resp)
}

// send sends the request and waits for the response's headers. Where a kept-alive connection turns out dead before any
// of the event was sent, it tries once more on a new one. net/http does so in some cases only, because it does not
// know that a POST may be sent again if none of its body was; and it might take the next dead one.
func (f *Function) send(ctx context.Context, x *exchange, req *invoke.Request) (*http.Response, *invoke.Error) {
	if p := x.means.plain; p != nil {
		x.head = p.appendHead(x.head[:0], req)
		resp, sent, err := p.client.Send(ctx, x.head, req.Body)
		if err != nil {
			return nil, f.failed(ctx, err, sent)
		}
		return resp, nil
	}
	x.answered = false
	x.values = [4]string{headerValue(req.Mapping), strconv.Itoa(req.Attempt), req.BatchID, traceparent()}
	resp, err := x.means.transport.RoundTrip(f.request(ctx, x, req))
	again := err != nil && !x.event.touched() && hadConnection(err) && ctx.Err() == nil
	if again {
		x.event.release()
		resp, err = x.means.fresh.RoundTrip(f.request(ctx, x, req))
	}
	if err != nil {
		return nil, f.failed(ctx, err, x.event.touched())
	}
	x.answered = !again // who knows what the first Transport still reads
	return resp, nil
}

func (f *Function) request(ctx context.Context, x *exchange, req *invoke.Request) *http.Request {
	if len(req.Body) == 0 {
		ctx = x.watchHeaders(ctx)
	}
	r := x.means.base.WithContext(ctx)
	r.Header = x.headerFor(req)
	if len(req.Body) > 0 {
		r.ContentLength = int64(len(req.Body))
		r.Body = x.event.hold(req.Body)
		r.GetBody = x.event.again
	}
	return r
}

// succeeded reads the response of a call that HTTP says went well.
func (f *Function) succeeded(ctx context.Context, x *exchange, req *invoke.Request, resp *http.Response) (invoke.Response, *invoke.Error) {
	if resp.ContentLength > invoke.ResponseBytesMax {
		return invoke.Response{}, tooLong(resp)
	}
	var body []byte
	var size int64
	var err error
	if req.WantBody || f.inBody {
		body, err = readAll(resp, req.Buffer)
		size = int64(len(body))
	} else {
		size, err = discard(resp.Body, x.scratch[:], invoke.ResponseBytesMax+1)
	}
	switch {
	case err != nil:
		return invoke.Response{}, f.brokenOff(ctx, resp, err)
	case size > invoke.ResponseBytesMax:
		return invoke.Response{}, tooLong(resp)
	}
	if f.inBody {
		if failure := errorInBody(resp.StatusCode, body); failure != nil {
			return invoke.Response{}, failure
		}
	}
	res := invoke.Response{Status: resp.StatusCode}
	if req.WantBody {
		res.Body = body
	}
	return res, nil
}

// readAll reads a response into buf's memory, one byte beyond the bound at most.
func readAll(resp *http.Response, buf []byte) ([]byte, error) {
	buf = buf[:0]
	if n := int(resp.ContentLength); n >= cap(buf) {
		buf = make([]byte, 0, n+1) // one more, so that the end is seen without growing
	}
	for len(buf) <= invoke.ResponseBytesMax {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, 512)
		}
		n, err := resp.Body.Read(buf[len(buf):min(cap(buf), invoke.ResponseBytesMax+1)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// discard reads at most limit bytes, so that the connection can be used again, and says how many there were.
func discard(r io.Reader, scratch []byte, limit int64) (int64, error) {
	var size int64
	for size < limit {
		n, err := r.Read(scratch)
		size += int64(n)
		if err == io.EOF {
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
	return size, nil
}

// headerValue makes s fit for a header: anything but printable ASCII is percent-encoded.
func headerValue(s string) string {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return url.PathEscape(s)
		}
	}
	return s
}
