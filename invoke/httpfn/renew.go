package httpfn

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/internal/tlsfile"
)

// renewEvery is how often files of headers, certificates and authorities are looked at, while calls are made.
const renewEvery = time.Second

// began is some moment; times are kept as distances from it.
var began = time.Now()

// means are what calls are made with. Changed headers or TLS files make others; calls on their way keep theirs.
type means struct {
	base *http.Request // what all requests share
	// plain is for http:// without a proxy; where it is nil, the others are there.
	plain     *plain
	transport http.RoundTripper
	fresh     http.RoundTripper // makes a new connection for every request
}

// newMeans makes them of a valid configuration. A new Transport has no TLS session of an earlier one: with that a
// server would go on taking us for who we were.
func newMeans(c *Config, u *url.URL) *means {
	m := &means{base: newBase(c, u)}
	switch {
	case c.Transport != nil:
		m.transport, m.fresh = c.Transport, c.Transport
	case isPlain(u):
		m.plain = newPlain(c, m.base)
	default:
		fresh := NewTransport(*c)
		fresh.DisableKeepAlives = true
		m.transport, m.fresh = NewTransport(*c), fresh
	}
	return m
}

// newBase makes what all requests share.
func newBase(c *Config, u *url.URL) *http.Request {
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "sluice")
	for k, v := range c.Headers {
		header[http.CanonicalHeaderKey(k)] = v
	}
	shown := *u
	if user := u.User; user != nil {
		password, _ := user.Password()
		r := http.Request{Header: header}
		r.SetBasicAuth(user.Username(), password)
		shown.User = nil // not needed any more, and so it cannot show up anywhere
	}
	base := &http.Request{Method: http.MethodPost, URL: &shown, Host: header.Get("Host"), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header}
	header.Del("Host") // net/http wants it in the request
	return base
}

// close gives the idle connections up.
func (m *means) close() {
	if m.plain != nil {
		m.plain.client.CloseIdle()
		return
	}
	if t, ok := m.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// renewal looks after what a function's means are made of. Whoever makes a call when a look is due takes it.
type renewal struct {
	due atomic.Int64 // in nanoseconds since began, which no jump of the clock changes

	mu     sync.Mutex // while looking
	config Config     // of the means
	url    *url.URL
	files  *tlsfile.Source // nil where there are none
	said   string          // what was last complained of
}

// newRenewal reads the TLS files into c, and returns nil where nothing of c can change.
func newRenewal(c *Config, u *url.URL) (*renewal, error) {
	r := &renewal{url: u}
	if c.TLSFiles != nil {
		var err error
		if r.files, err = tlsfile.Open("functions."+c.Name+".tls", *c.TLSFiles); err != nil {
			return nil, err
		}
		if c.TLS, err = r.files.Config(); err != nil {
			return nil, err
		}
	}
	if r.files == nil && c.RenewHeaders == nil {
		return nil, nil
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	r.config = *c
	r.due.Store(int64(time.Since(began) + renewEvery))
	return r, nil
}

// now returns the means of a call that begins.
func (f *Function) now() *means {
	if f.renewal != nil && int64(time.Since(began)) >= f.renewal.due.Load() {
		f.renew()
	}
	return f.means.Load()
}

// renew makes other means if what they are made of has changed. Calls that begin meanwhile do not wait for it.
func (f *Function) renew() {
	r := f.renewal
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	defer func() { r.due.Store(int64(time.Since(began) + renewEvery)) }()
	header, headerErr := r.newHeader()
	config, filesErr := r.newTLS()
	r.complain(errors.Join(headerErr, filesErr))
	if header == nil && config == nil {
		return
	}
	if header != nil {
		r.config.Headers = header
	}
	if config != nil {
		r.config.TLS = config
	}
	// The old connections end by themselves when they have been idle for IdleConnTimeout. To close the idle ones here
	// would break calls: net/http may count a connection as idle a moment before the call on it has its response.
	f.means.Store(newMeans(&r.config, r.url))
}

// newHeader returns the headers if they have changed and are good.
func (r *renewal) newHeader() (http.Header, error) {
	if r.config.RenewHeaders == nil {
		return nil, nil
	}
	header, err := r.config.RenewHeaders()
	if maps.EqualFunc(header, r.config.Headers, slices.Equal[[]string]) {
		return nil, err
	}
	var wrong []error
	checkHeaders(header, func(field, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("functions.%s.%s: %s", r.config.Name, field, fmt.Sprintf(format, args...)))
	})
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return header, err
}

// newTLS returns the TLS configuration if it has changed and is good.
func (r *renewal) newTLS() (*tls.Config, error) {
	if r.files == nil {
		return nil, nil
	}
	config, err := r.files.Config()
	if config == r.config.TLS {
		return nil, err
	}
	return config, err
}

// complain logs what is wrong, once.
func (r *renewal) complain(err error) {
	if err == nil {
		r.said = ""
		return
	}
	if text := err.Error(); text != r.said {
		r.said = text
		r.config.Log.Warn("changed headers or TLS files of a function cannot be used; the ones before are", "function", r.config.Name, "error", err)
	}
}
