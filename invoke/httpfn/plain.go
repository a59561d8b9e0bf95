package httpfn

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/http1"
	"github.com/sluicehq/sluice/invoke"
)

// plain sends requests to an http:// URL without net/http's Transport: see internal/http1.
type plain struct {
	client *http1.Client
	// line is the request line and Host; fields are the configured headers, as text and each for itself.
	line   []byte
	fields []byte
	list   []invoke.Header
}

// isPlain says whether requests to u go without TLS, proxy, and names that only net/http can write.
func isPlain(u *url.URL) bool {
	if u.Scheme != "http" || proxyFor(u) != nil {
		return false
	}
	return !strings.ContainsFunc(u.Host, func(r rune) bool { return r <= ' ' || r > '~' || r == '%' })
}

// newPlain makes it; base is what all requests share.
func newPlain(c *Config, base *http.Request) *plain {
	address := addressOf(base.URL)
	idle, timeout := c.idle()
	p := &plain{client: &http1.Client{
		Dial: func(ctx context.Context) (*net.TCPConn, error) {
			conn, err := dialer.DialContext(ctx, "tcp", address)
			if err != nil {
				return nil, err
			}
			return conn.(*net.TCPConn), nil
		},
		IdleMax: idle, IdleTimeout: timeout, HeaderBytesMax: responseHeaderBytesMax,
	}}
	host := base.Host
	if host == "" {
		host = base.URL.Host
	}
	p.line = []byte("POST " + base.URL.RequestURI() + " HTTP/1.1\r\nHost: " + host + "\r\n")
	for name, values := range base.Header {
		if name == contentType {
			continue
		}
		for _, v := range values {
			p.list = append(p.list, invoke.Header{Name: name, Value: strings.TrimSpace(v)})
		}
	}
	slices.SortStableFunc(p.list, func(a, b invoke.Header) int { return strings.Compare(a.Name, b.Name) })
	for _, h := range p.list {
		p.fields = appendField(p.fields, h.Name, h.Value)
	}
	return p
}

const contentType = "Content-Type"

// appendHead appends the head of the request that carries req.
func (p *plain) appendHead(dst []byte, req *invoke.Request) []byte {
	dst = append(dst, p.line...)
	if req.Header == nil {
		dst = append(dst, p.fields...)
		dst = append(dst, contentType+": application/json\r\n"...)
	} else {
		dst = p.appendHeader(dst, req.Header)
	}
	dst = appendField(dst, headerMapping, headerValue(req.Mapping))
	dst = append(dst, headerAttempt+": "...)
	dst = strconv.AppendInt(dst, int64(req.Attempt), 10)
	dst = append(dst, "\r\n"...)
	dst = appendField(dst, headerBatchID, req.BatchID)
	dst = append(dst, headerTraceparent+": "...)
	dst = appendTraceparent(dst)
	dst = append(dst, "\r\nContent-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(req.Body)), 10)
	return append(dst, "\r\n\r\n"...)
}

// appendHeader appends the configured headers and those that the request brings, which go before.
func (p *plain) appendHeader(dst []byte, header []invoke.Header) []byte {
	for _, h := range p.list {
		if !slices.ContainsFunc(header, func(r invoke.Header) bool { return r.Name == h.Name }) {
			dst = appendField(dst, h.Name, h.Value)
		}
	}
	for _, h := range header {
		dst = appendField(dst, h.Name, h.Value)
	}
	return dst
}

// appendField appends a header field. A line break in it, which nothing that makes headers lets through, could make one
// request two.
func appendField(dst []byte, name, value string) []byte {
	start := len(dst)
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	if field := dst[start:]; bytes.IndexByte(field, '\n') >= 0 || bytes.IndexByte(field, '\r') >= 0 {
		for i, b := range field {
			if b == '\n' || b == '\r' {
				field[i] = ' '
			}
		}
	}
	return append(dst, "\r\n"...)
}
