package httpfn

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/tlsfile"
)

// Config describes a function behind a URL.
type Config struct {
	// Name is the function's name in the configuration, for errors.
	Name string
	// URL is http or https. User and password in it become an Authorization header and are shown nowhere.
	URL string
	// Timeout bounds an invocation that brings no bound of its own; TimeoutDefault if 0.
	Timeout time.Duration
	// ErrorDetection is where a failed function that answers 2xx says so; DetectAuto if empty.
	ErrorDetection ErrorDetection
	// Headers are sent with every call, at most headerBytesMax bytes of them. They cannot replace ours.
	Headers http.Header
	// RenewHeaders returns Headers as they are now, for those that stand in files; nil where they do not change. It is
	// asked at most once in renewEvery. The error says why some are not new; the others count.
	RenewHeaders func() (http.Header, error)
	// TLS is for https; nil takes the system's roots.
	TLS *tls.Config
	// TLSFiles are the files that TLS is made of, instead. When they change, calls that begin renewEvery later or after
	// that have new connections.
	TLSFiles *tlsfile.Names
	// Log gets what is wrong with changed headers and files; nil for nobody.
	Log *slog.Logger
	// MaxIdleConns bounds the connections kept while idle; MaxIdleConnsDefault if 0.
	MaxIdleConns int
	// IdleConnTimeout is how long they are kept; IdleConnTimeoutDefault if 0.
	IdleConnTimeout time.Duration
	// Transport replaces the one that NewTransport makes; for tests. It must not follow redirects.
	Transport http.RoundTripper
}

// ErrorDetection is where a failed function that answers 2xx says so. The header X-Amz-Function-Error is always
// looked at.
type ErrorDetection string

// The ways of error detection.
const (
	// DetectAuto is DetectBody where the URL's path is that of Lambda's Invoke API
	// (/2015-03-31/functions/…/invocations), else DetectHeader.
	DetectAuto ErrorDetection = "auto"
	// DetectHeader looks at the header only.
	DetectHeader ErrorDetection = "header"
	// DetectBody takes a response that is an object with errorType and errorMessage for an error as well, and the
	// text with which Lambda's runtime interface emulator reports a time-out: it sends neither status nor header.
	DetectBody ErrorDetection = "body"
)

// Defaults.
const (
	TimeoutDefault = 30 * time.Second
	// MaxIdleConnsDefault is as many as 200 provisioned pollers can use at once: a connection that was needed a
	// moment ago is not given up.
	MaxIdleConnsDefault = 1024
	// IdleConnTimeoutDefault is shorter than the servers' own: see the package comment.
	IdleConnTimeoutDefault = 1500 * time.Millisecond
)

// headerBytesMax bounds the configured headers. All headers of a request must stay within writeBufferBytes, or some
// would be on their way before the event's first byte.
const headerBytesMax = 8 << 10

// check returns the URL, or every mistake at once. It never prints the URL or a header's value: both may be secret.
func (c *Config) check() (*url.URL, error) {
	var wrong []error
	fault := func(field, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("functions.%s.%s: %s", c.Name, field, fmt.Sprintf(format, args...)))
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		fault("url", "not a URL; want http://host:port/path or https://host/path")
	case u.Scheme != "http" && u.Scheme != "https":
		fault("url", "scheme %q; want http or https", u.Scheme)
	case u.Hostname() == "":
		fault("url", "no host in it; want http://host:port/path or https://host/path")
	}
	if c.Timeout < 0 {
		fault("timeout", "%v; want more than 0", c.Timeout)
	}
	switch c.ErrorDetection {
	case "", DetectAuto, DetectHeader, DetectBody:
	default:
		fault("errorDetection", "%q; want auto, header or body", string(c.ErrorDetection))
	}
	if c.MaxIdleConns < 0 {
		fault("maxIdleConns", "%d; want 0 or more", c.MaxIdleConns)
	}
	checkHeaders(c.Headers, fault)
	return u, errors.Join(wrong...)
}

// checkHeaders tells fault every mistake in configured headers.
func checkHeaders(header http.Header, fault func(field, format string, args ...any)) {
	size := 0
	for name, values := range header {
		for _, v := range values {
			size += len(name) + len(v) + len(": \r\n")
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				fault("headers."+name, "the value holds control characters")
			}
		}
		if why := headerNameFault(name); why != "" {
			fault("headers", "%q %s", name, why)
		}
	}
	if size > headerBytesMax {
		fault("headers", "%d bytes; want at most %d", size, headerBytesMax)
	}
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func headerNameFault(name string) string {
	canonical := http.CanonicalHeaderKey(name)
	switch {
	case !headerName.MatchString(name):
		return "is not a header name"
	case strings.HasPrefix(canonical, "Sluice-"), canonical == headerTraceparent, canonical == "Content-Type":
		return "is set by Sluice"
	case canonical == "Content-Length", canonical == "Transfer-Encoding", canonical == "Connection", canonical == "Expect", canonical == "Trailer", canonical == "Upgrade":
		return "is the connection's own"
	}
	return ""
}

var invokePath = regexp.MustCompile(`^/2015-03-31/functions/[^/]+/invocations/?$`)

// isInvokePath says whether u is Lambda's Invoke API, in practice its runtime interface emulator.
func isInvokePath(u *url.URL) bool { return invokePath.MatchString(u.EscapedPath()) }
