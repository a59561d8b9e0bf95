package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority is a certificate authority of a test, with a folder for its files.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its certificate, for caFile
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, key := a.sign(template, nil, nil)
	a.key = key
	a.cert = must(x509.ParseCertificate(der))(t)
	a.file = a.write(name+".pem", "CERTIFICATE", der)
	return a
}

// issue makes a certificate for this machine's loopback address, valid until notAfter, and returns its files.
func (a *authority) issue(name string, notAfter time.Time) (certFile, keyFile string) {
	a.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{
			x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth,
		},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{name},
	}
	der, key := a.sign(template, a.cert, a.key)
	keyDER := must(x509.MarshalPKCS8PrivateKey(key))(a.t)
	return a.write(name+".pem", "CERTIFICATE", der), a.write(name+".key", "PRIVATE KEY", keyDER)
}

func (a *authority) sign(template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
	a.t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(a.t)
	if parent == nil {
		parent, parentKey = template, key
	}
	return must(x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey))(a.t), key
}

func (a *authority) write(name, kind string, der []byte) string {
	a.t.Helper()
	file := filepath.Join(a.dir, name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return file
}

// server is the TLS configuration of a broker with a certificate of this authority.
func (a *authority) server(notAfter time.Time) *tls.Config {
	a.t.Helper()
	certFile, keyFile := a.issue("broker.test", notAfter)
	pair := must(tls.LoadX509KeyPair(certFile, keyFile))(a.t)
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

// mutual is server for brokers that ask the client for a certificate of the same authority.
func (a *authority) mutual() *tls.Config {
	a.t.Helper()
	c := a.server(time.Now().Add(time.Hour))
	c.ClientAuth = tls.RequireAndVerifyClientCert
	c.ClientCAs = x509.NewCertPool()
	c.ClientCAs.AddCert(a.cert)
	return c
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
