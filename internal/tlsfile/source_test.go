package tlsfile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pair makes a certificate of its own authority, and its key, both PEM.
func pair(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// put writes the three files of a client into a folder.
func put(t *testing.T, dir string, cert, key []byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"ca.pem": cert, "client.pem": cert, "client.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func names(dir string) Names {
	return Names{
		CAFile: filepath.Join(dir, "ca.pem"), CertFile: filepath.Join(dir, "client.pem"), KeyFile: filepath.Join(dir, "client.key"),
		ServerName: "broker.test",
	}
}

// open opens the files of a folder and lets them be old, as files of a running service are.
func open(t *testing.T, dir string) *Source {
	t.Helper()
	s, err := Open("tls", names(dir))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// age makes the files of a folder older than any file that is written from here on.
func age(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"ca.pem", "client.pem", "client.key"} {
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// owner is the name in the client's certificate.
func owner(t *testing.T, c *tls.Config) string {
	t.Helper()
	leaf, err := x509.ParseCertificate(c.Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return leaf.Subject.CommonName
}

func config(t *testing.T, s *Source) *tls.Config {
	t.Helper()
	c, err := s.Config()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheConfigurationIsTheFiles(t *testing.T) {
	dir := t.TempDir()
	cert, key := pair(t, "one")
	put(t, dir, cert, key)
	c := config(t, open(t, dir))
	if c.MinVersion != tls.VersionTLS12 || c.ServerName != "broker.test" || owner(t, c) != "one" || c.RootCAs == nil {
		t.Errorf("got %+v", c)
	}
	s, err := Open("tls", Names{})
	if err != nil {
		t.Fatal(err)
	}
	if c := config(t, s); c.RootCAs != nil || c.Certificates != nil {
		t.Errorf("no files: got %+v", c)
	}
}

// Fault 114: a certificate that is swapped is used, however it is swapped.
func TestChangedFilesAreReadAgain(t *testing.T) {
	cert, key := pair(t, "one")
	next, nextKey := pair(t, "two")
	for name, swap := range map[string]func(t *testing.T, dir string){
		"written in place": func(t *testing.T, dir string) { put(t, dir, next, nextKey) },
		"written in place, with the same dates and sizes, at once": func(t *testing.T, dir string) {
			before, err := os.Stat(filepath.Join(dir, "client.pem"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, next, nextKey)
			for _, name := range []string{"ca.pem", "client.pem", "client.key"} {
				if err := os.Chtimes(filepath.Join(dir, name), before.ModTime(), before.ModTime()); err != nil {
					t.Fatal(err)
				}
			}
		},
		"renamed": func(t *testing.T, dir string) {
			put(t, dir+".new", next, nextKey)
			for _, name := range []string{"ca.pem", "client.pem", "client.key"} {
				if err := os.Rename(filepath.Join(dir+".new", name), filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "tls")
			put(t, dir, cert, key)
			if !strings.Contains(name, "at once") {
				age(t, dir)
			}
			s := open(t, dir)
			first := config(t, s)
			if config(t, s) != first {
				t.Error("the same files made another configuration")
			}
			swap(t, dir)
			if c := config(t, s); c == first || owner(t, c) != "two" {
				t.Errorf("got the certificate of %s", owner(t, c))
			}
			if owner(t, first) != "one" {
				t.Error("a configuration that was handed out has changed")
			}
		})
	}
}

// Kubernetes mounts secrets so: the files are symlinks through ..data, which is swapped as a whole.
func TestASymlinkOnTheWayIsFollowedAnew(t *testing.T) {
	dir := t.TempDir()
	cert, key := pair(t, "one")
	put(t, filepath.Join(dir, "..1"), cert, key)
	age(t, filepath.Join(dir, "..1"))
	cert, key = pair(t, "two")
	put(t, filepath.Join(dir, "..2"), cert, key)
	age(t, filepath.Join(dir, "..2"))
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("..1", "..data")
	for _, name := range []string{"ca.pem", "client.pem", "client.key"} {
		link(filepath.Join("..data", name), name)
	}
	s := open(t, dir)
	if got := owner(t, config(t, s)); got != "one" {
		t.Fatalf("got the certificate of %s", got)
	}
	link("..2", "..next")
	if err := os.Rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	if got := owner(t, config(t, s)); got != "two" {
		t.Errorf("got the certificate of %s", got)
	}
}

func TestFilesThatCannotBeUsedLeaveTheLastOnes(t *testing.T) {
	cert, key := pair(t, "one")
	next, nextKey := pair(t, "two")
	dir := t.TempDir()
	put(t, dir, cert, key)
	s := open(t, dir)
	first := config(t, s)
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { write("client.pem", next) }, "does not match"},
		{func() { write("client.pem", next[:len(next)/2]) }, "tls.certFile"},
		{func() { write("ca.pem", nil) }, "holds no PEM certificate"},
		{func() { os.Remove(filepath.Join(dir, "client.key")) }, "no such file"}, //nolint:errcheck // the next look shows it
	} {
		step.do()
		c, err := s.Config()
		if c != first || err == nil || !strings.Contains(err.Error(), step.want) {
			t.Errorf("got another configuration, or %v, want the first one and «%s»", err, step.want)
		}
	}
	put(t, dir, next, nextKey)
	if got := owner(t, config(t, s)); got != "two" {
		t.Errorf("after the repair: got the certificate of %s", got)
	}
}

func TestOpenNamesEveryFile(t *testing.T) {
	dir := t.TempDir()
	_, err := Open("functions.orders.tls", names(dir))
	if err == nil {
		t.Fatal("no error")
	}
	for _, key := range []string{"caFile", "certFile", "keyFile"} {
		if !strings.Contains(err.Error(), "functions.orders.tls."+key+` "`+dir) {
			t.Errorf("%s is not in %v", key, err)
		}
	}
	if _, err := Open("tls", Names{KeyFile: "k"}); err == nil || !strings.Contains(err.Error(), "needs both") {
		t.Errorf("a key alone: %v", err)
	}
}
