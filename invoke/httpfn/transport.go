package httpfn

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// The bounds of a connection.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	// pingAfter and pingTimeout find out that an HTTP/2 connection is dead, which all its calls would share.
	pingAfter   = 15 * time.Second
	pingTimeout = 15 * time.Second
	// responseHeaderBytesMax bounds the response's headers.
	responseHeaderBytesMax = 256 << 10
	// writeBufferBytes lets a request with one record of up to 10 KiB go out in one write.
	writeBufferBytes = 16 << 10
)

// NewTransport returns the Transport that New uses for https and behind proxies: kept-alive connections, as many as there are calls at once,
// HTTP/2 where a TLS server offers it, no compression. Proxies are taken from the environment, as Go programs do.
func NewTransport(c Config) *http.Transport {
	u, _ := url.Parse(c.URL)
	idle, timeout := c.idle()
	t := &http.Transport{
		Proxy:                  proxyFor(u),
		DialContext:            dial,
		TLSClientConfig:        tlsConfig(c.TLS),
		TLSHandshakeTimeout:    handshakeTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		DisableCompression:     true,
		MaxIdleConns:           idle,
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        timeout,
		MaxResponseHeaderBytes: responseHeaderBytesMax,
		WriteBufferSize:        writeBufferBytes,
	}
	return t
}

// idle is how many connections are kept while idle, and how long each.
func (c *Config) idle() (most int, timeout time.Duration) {
	most, timeout = c.MaxIdleConns, c.IdleConnTimeout
	if most == 0 {
		most = MaxIdleConnsDefault
	}
	if timeout == 0 {
		timeout = IdleConnTimeoutDefault
	}
	return most, timeout
}

func tlsConfig(c *tls.Config) *tls.Config {
	if c == nil {
		c = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	c = c.Clone()
	if c.ClientSessionCache == nil {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(8) // so that a new connection costs less
	}
	return c
}

// proxyFor looks the proxy up once: the Transport would do so for every call.
func proxyFor(u *url.URL) func(*http.Request) (*url.URL, error) {
	if u == nil {
		return nil
	}
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if proxy == nil && err == nil {
		return nil
	}
	return func(*http.Request) (*url.URL, error) { return proxy, err }
}

var dialer = net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}

// dial connects.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c, nil
	}
	return &patientConn{TCPConn: tcp, closed: make(chan struct{})}, nil
}
