package httpfn

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/tlsfile"
	"github.com/sluicehq/sluice/invoke"
)

// issuer is a certificate authority of a test.
type issuer struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t}
	i.cert, i.key = i.sign(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return i
}

func (i *issuer) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: "test"}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := i.cert, i.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		i.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		i.t.Fatal(err)
	}
	return cert, key
}

// server wants client certificates of this authority and shows one of it.
func (i *issuer) server() *tls.Config {
	cert, key := i.sign(&x509.Certificate{
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"fn.test"},
	})
	pool := x509.NewCertPool()
	pool.AddCert(i.cert)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: pool, NextProtos: []string{"h2", "http/1.1"},
	}
}

// client writes the files of a client of this authority into a new folder.
func (i *issuer) client() string {
	i.t.Helper()
	dir := i.t.TempDir()
	cert, key := i.sign(&x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		i.t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem":     {Type: "CERTIFICATE", Bytes: i.cert.Raw},
		"client.pem": {Type: "CERTIFICATE", Bytes: cert.Raw},
		"client.key": {Type: "PRIVATE KEY", Bytes: pkcs8},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			i.t.Fatal(err)
		}
	}
	return dir
}

func names(dir string) *tlsfile.Names {
	return &tlsfile.Names{
		CAFile: filepath.Join(dir, "ca.pem"), CertFile: filepath.Join(dir, "client.pem"), KeyFile: filepath.Join(dir, "client.key"),
	}
}

func isKind(err error, kind invoke.Kind) bool {
	var e *invoke.Error
	return errors.As(err, &e) && e.Kind == kind
}

// lookNow makes the next look at files due.
func (f *Function) lookNow() { f.renewal.due.Store(0) }

// rotating is a server whose authority can be changed; it counts the connections that have a client certificate.
func rotating(t *testing.T, http2 bool, first *issuer) (server *httptest.Server, change func(*issuer)) {
	t.Helper()
	var now atomic.Pointer[tls.Config]
	now.Store(first.server())
	server = httptest.NewUnstartedServer(answer(200, nil, ""))
	server.Config.ErrorLog = quiet()
	server.EnableHTTP2 = http2
	server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return now.Load(), nil }}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, func(i *issuer) { now.Store(i.server()) }
}

// Fault 114: the client's certificate and the authority are swapped by a symlink, and the server takes the new ones
// only. Calls go on with them.
func TestChangedCertificatesAreUsed(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			old, next := newIssuer(t), newIssuer(t)
			server, change := rotating(t, http2, old)
			dir := t.TempDir()
			swap := func(to string) {
				t.Helper()
				if err := os.Symlink(to, filepath.Join(dir, "..next")); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data")); err != nil {
					t.Fatal(err)
				}
			}
			swap(old.client())
			f := newFunction(t, Config{URL: server.URL, TLSFiles: names(filepath.Join(dir, "..data"))})
			call := func() error {
				_, err := f.Invoke(t.Context(), request())
				return err
			}
			if err := call(); err != nil {
				t.Fatal(err)
			}
			before := f.means.Load()
			f.lookNow()
			if err := call(); err != nil || f.means.Load() != before {
				t.Errorf("files that have not changed: %v, or another connection", err)
			}
			change(next)
			server.CloseClientConnections()
			f.lookNow()
			err := call()
			for i := 0; i < 10 && !isKind(err, invoke.Unreachable); i++ { // the connection that was cut may take a call with it
				err = call()
			}
			checkError(t, err, invoke.Unreachable, false, "authority is not trusted")
			swap(next.client())
			f.lookNow()
			if err := call(); err != nil {
				t.Errorf("with the new files: %v", err)
			}
		})
	}
}

func TestChangedFilesThatCannotBeUsedLeaveTheLastOnes(t *testing.T) {
	old, next := newIssuer(t), newIssuer(t)
	server, _ := rotating(t, false, old)
	dir := old.client()
	var log bytes.Buffer
	f := newFunction(t, Config{URL: server.URL, TLSFiles: names(dir), Log: slog.New(slog.NewTextHandler(&log, nil))})
	data, err := os.ReadFile(filepath.Join(next.client(), "client.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "client.pem"), data, 0o600); err != nil { // its key comes later
		t.Fatal(err)
	}
	for range 3 {
		f.lookNow()
		if _, err := f.Invoke(t.Context(), request()); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(log.String(), "cannot be used"); n != 1 || !strings.Contains(log.String(), "functions.orders-fn.tls.certFile") {
		t.Errorf("%d complaints, want one: %s", n, log.String())
	}
}

func TestTLSFilesAreReadAtTheStart(t *testing.T) {
	_, err := New(Config{Name: "fn", URL: "https://h/", TLSFiles: names("nowhere")})
	if err == nil || !strings.Contains(err.Error(), `functions.fn.tls.caFile "nowhere/ca.pem"`) {
		t.Errorf("got %v", err)
	}
}

// A token in a header is rotated in its file.
func TestChangedHeadersAreSent(t *testing.T) {
	var got atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization") + " " + r.Header.Get("X-Team") + " " + r.Host)
	}))
	defer server.Close()
	var mu sync.Mutex
	token, failure := "one", error(nil)
	header := func() (http.Header, error) {
		mu.Lock()
		defer mu.Unlock()
		return http.Header{"Authorization": {"Bearer " + token}, "X-Team": {"shop"}, "Host": {"fn.test"}}, failure
	}
	set := func(text string, err error) {
		mu.Lock()
		defer mu.Unlock()
		token, failure = text, err
	}
	var log bytes.Buffer
	first, _ := header()
	f := newFunction(t, Config{URL: server.URL, Headers: first, RenewHeaders: header, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, step := range []struct {
		token, want string
		err         error
		complaint   string
	}{
		{"one", "one", nil, ""},
		{"two", "two", nil, ""},
		{"two\r\nX-Evil: 1", "two", nil, "the value holds control characters"},
		{strings.Repeat("x", headerBytesMax), "two", nil, "want at most"},
		{"three", "three", errors.New("file of another header cannot be read"), "file of another header"},
	} {
		set(step.token, step.err)
		log.Reset()
		f.lookNow()
		if _, err := f.Invoke(t.Context(), request()); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("Bearer %s shop fn.test", step.want); got.Load() != want {
			t.Errorf("got %q, want %q", got.Load(), want)
		}
		if said := log.String(); !strings.Contains(said, step.complaint) || step.complaint == "" && said != "" || strings.Contains(said, "X-Evil") {
			t.Errorf("logged %q, want «%s»", said, step.complaint)
		}
	}
}

func TestAFunctionThatCannotChangeIsNotLookedAfter(t *testing.T) {
	if f := newFunction(t, Config{URL: "http://h/", Headers: http.Header{"X-Team": {"shop"}}}); f.renewal != nil {
		t.Error("it looks for changes at each call")
	}
}

// Many calls at once may find the look due; one takes it.
func TestChangesWhileCallsAreMade(t *testing.T) {
	server := httptest.NewServer(answer(200, nil, ""))
	defer server.Close()
	var n atomic.Int64
	header := func() (http.Header, error) { return http.Header{"X-N": {fmt.Sprint(n.Add(1))}}, nil }
	f := newFunction(t, Config{URL: server.URL, Headers: http.Header{"X-N": {"0"}}, RenewHeaders: header})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				f.lookNow()
				if _, err := f.Invoke(t.Context(), request()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
