package admin

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard lets through what a program on this machine may ask. A web page in a browser on this machine could ask as well,
// from anywhere: by a name of its own that it makes resolve to 127.0.0.1 (then Host is that name), or across sites (then
// the browser says so in Origin or Sec-Fetch-Site). Both are refused; what is not a browser sends neither.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case !isLoopback(hostname(r.Host)):
			writeError(w, http.StatusForbidden, fmt.Sprintf(
				"host %q: only loopback names are served (localhost, 127.0.0.1, [::1])", r.Host))
		case fromOtherSite(r):
			writeError(w, http.StatusForbidden, "requests of web pages from elsewhere are refused")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			writeError(w, http.StatusMethodNotAllowed, fmt.Sprintf("method %s: allowed are GET and HEAD", r.Method))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// fromOtherSite says whether a browser sent the request for a page that is not ours. Pages of other ports of this machine
// are not ours either, though browsers call them same-site.
func fromOtherSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none": // none: somebody typed the address
	default:
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(u.Host, r.Host)
}

// hostname takes the port off a Host header or an address, and the brackets off an IPv6 address.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// isLoopback says whether a name or an address can only mean this machine.
func isLoopback(name string) bool {
	if strings.EqualFold(strings.TrimSuffix(name, "."), "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}

// atMost answers 503 to what comes while n requests are being answered.
func atMost(n int, next http.Handler) http.Handler {
	slots := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			writeError(w, http.StatusServiceUnavailable, fmt.Sprintf("%d requests are being answered already", n))
		}
	})
}
