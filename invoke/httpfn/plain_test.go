package httpfn

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/invoke"
)

// TestThroughAProxy: the proxy that the environment names is used for http:// too. Go reads the environment once in a
// process, so that the call is made in another.
func TestThroughAProxy(t *testing.T) {
	if os.Getenv("SLUICE_TEST_CALL") != "" {
		if _, err := newFunction(t, Config{URL: "http://fn.example.com/run?x=1"}).Invoke(t.Context(), request()); err != nil {
			t.Fatal(err)
		}
		return
	}
	saw := make(chan *http.Request, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { saw <- r }))
	defer proxy.Close()
	again := exec.Command(os.Args[0], "-test.run", "^TestThroughAProxy$")
	again.Env = append(os.Environ(), "SLUICE_TEST_CALL=1", "HTTP_PROXY="+strings.Replace(proxy.URL, "//", "//me:word@", 1), "NO_PROXY=", "http_proxy=", "no_proxy=")
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := <-saw
	if r.URL.String() != "http://fn.example.com/run?x=1" || r.Header.Get("Proxy-Authorization") == "" || r.Header.Get("Sluice-Mapping") != "orders" {
		t.Errorf("%s %v", r.URL, r.Header)
	}
}

// TestHeadersStayInTheirLines: whatever is in a header, a request stays one request.
func TestHeadersStayInTheirLines(t *testing.T) {
	base := newBase(&Config{Headers: http.Header{"X-Team": {" shop ", "b"}}}, mustParse(t, "http://h:1/p"))
	p := newPlain(&Config{}, base)
	for _, header := range [][]invoke.Header{nil, {{Name: "X-Team", Value: "own"}, {Name: "Ce-Id", Value: "1\r\nX-Evil: 2\n\n"}}} {
		req := request()
		req.Mapping, req.BatchID, req.Header = "a\r\nX-Evil: 1", "x\r\nX-Evil: 1", header
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(append(p.appendHead(nil, req), req.Body...))))
		if err != nil {
			t.Fatal(err)
		}
		if r.Header.Get("X-Evil") != "" || r.ContentLength != int64(len(req.Body)) || r.Host != "h:1" || r.URL.Path != "/p" {
			t.Errorf("%v", r.Header)
		}
		want := "shop,b"
		if header != nil {
			want = "own"
		}
		if got := strings.Join(r.Header["X-Team"], ","); got != want {
			t.Errorf("X-Team %q, want %q", got, want)
		}
	}
}

func TestWhatIsPlain(t *testing.T) {
	for u, want := range map[string]bool{
		"http://h/": true, "http://127.0.0.1:80/a?b": true, "http://[::1]:80": true,
		"https://h/": false, "http://bücher.example/": false, "http://[fe80::1%25eth0]/": false,
	} {
		if got := isPlain(mustParse(t, u)); got != want {
			t.Errorf("%s: %v", u, got)
		}
	}
}

func mustParse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
