package httpfn

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/tlsfile"
	"github.com/sluicehq/sluice/invoke"
)

func TestReachConnectsAndInvokesNothing(t *testing.T) {
	ours, other := newIssuer(t), newIssuer(t)
	var calls atomic.Int64
	count := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	plain := httptest.NewServer(count)
	defer plain.Close()
	start := func(edit func(*tls.Config)) string {
		server := httptest.NewUnstartedServer(count)
		server.TLS = ours.server()
		edit(server.TLS)
		server.Config.ErrorLog = quiet()
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.URL
	}
	mutual := start(func(*tls.Config) {})
	older := start(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 })
	open := start(func(c *tls.Config) { c.ClientAuth = tls.NoClientCert })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	ca := func(i *issuer) *tlsfile.Names { return &tlsfile.Names{CAFile: names(i.client()).CAFile} }
	mixed := names(other.client())
	mixed.CAFile = ca(ours).CAFile

	for _, c := range []struct {
		name, url string
		files     *tlsfile.Names
		want      string // of the hint; "" for reached
	}{
		{"http", plain.URL, nil, ""},
		{"https with a private authority", open, ca(ours), ""},
		{"https with a client certificate", mutual, names(ours.client()), ""},
		{"nobody there", "http://" + closed.Addr().String(), nil, "nothing listens at functions.orders-fn.url"},
		{"an authority that is not known", open, ca(other), "authority is not trusted"},
		{"no client certificate", mutual, ca(ours), "refused the TLS handshake: check functions.orders-fn.tls"},
		{"no client certificate, TLS 1.2", older, ca(ours), "refused the TLS handshake"},
		{"a client certificate of another authority", mutual, mixed, "refused the TLS handshake"},
		{"TLS to a port without", strings.Replace(plain.URL, "http:", "https:", 1), nil, "does not speak TLS"},
		{"a server that does not answer", "https://" + silentListener(t), nil, "no connection came about in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := 20 * time.Second
			if strings.Contains(c.name, "does not answer") {
				limit = 50 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			err := Reach(ctx, Config{Name: "orders-fn", URL: c.url, TLSFiles: c.files})
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			checkError(t, err, invoke.Unreachable, false, c.want)
		})
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("%d calls were made", n)
	}
	if err := Reach(t.Context(), Config{Name: "f", URL: "ftp://h/"}); err == nil {
		t.Error("a wrong configuration is reached")
	}
}
