package httpfn

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/sluicehq/sluice/invoke"
)

// refusalTime is how long after a handshake a server's refusal of our certificate may take to arrive: in TLS 1.3 the
// client is done before the server has looked at it.
const refusalTime = 500 * time.Millisecond

// Reach connects to where c's function is, and shakes hands if its URL is https, within ctx's deadline. It invokes
// nothing. Where the environment names a proxy for the URL, the proxy is what it reaches. The error is of the
// configuration, or an *invoke.Error of kind Unreachable that says what to do.
func Reach(ctx context.Context, c Config) error {
	u, err := c.check()
	if err != nil {
		return err
	}
	if _, err := newRenewal(&c, u); err != nil { // reads TLSFiles
		return err
	}
	if err := reach(ctx, &c, u); err != nil {
		f := &Function{name: c.Name}
		return &invoke.Error{Kind: invoke.Unreachable, Err: err, Hint: f.hintForNetwork(err)}
	}
	return nil
}

func reach(ctx context.Context, c *Config, u *url.URL) error {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if err != nil {
		return err
	}
	to := u
	if proxy != nil {
		to = proxy
	}
	conn, err := dialer.DialContext(ctx, "tcp", addressOf(to))
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // nothing was sent
	if proxy != nil || u.Scheme != "https" {
		return nil
	}
	config := tlsConfig(c.TLS)
	if config.ServerName == "" {
		config.ServerName = u.Hostname()
	}
	config.NextProtos = []string{"h2", "http/1.1"}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return err
	}
	return refusedAfterwards(secure)
}

// refusedAfterwards waits a moment for an alert.
func refusedAfterwards(conn *tls.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(refusalTime)); err != nil {
		return err
	}
	_, err := conn.Read(make([]byte, 1))
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}

// addressOf is the host and port of a URL.
func addressOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
