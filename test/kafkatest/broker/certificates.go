package broker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lifetime of the certificates: a test run, with room for clocks that differ.
const lifetime = 48 * time.Hour

// certificate is a certificate with its key.
type certificate struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// makeCredentials writes a CA, a server's and a client's certificate, and a client's of another CA, to dir.
func makeCredentials(dir string) (Credentials, error) {
	c := Credentials{
		Username: "svc", Password: "svc-secret",
		CAFile:         filepath.Join(dir, "ca.pem"),
		CertFile:       filepath.Join(dir, "client.pem"),
		KeyFile:        filepath.Join(dir, "client-key.pem"),
		OtherCAFile:    filepath.Join(dir, "other-ca.pem"),
		OtherCertFile:  filepath.Join(dir, "other-client.pem"),
		OtherKeyFile:   filepath.Join(dir, "other-client-key.pem"),
		serverKeystore: filepath.Join(dir, "server-keystore.pem"),
	}
	c.serverTrustFile = c.CAFile
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return c, err
	}
	ca, err := issue("Sluice test CA", nil)
	if err != nil {
		return c, err
	}
	server, err := issue("127.0.0.1", &ca)
	if err != nil {
		return c, err
	}
	client, err := issue("svc", &ca)
	if err != nil {
		return c, err
	}
	otherCA, err := issue("Another test CA", nil)
	if err != nil {
		return c, err
	}
	other, err := issue("stranger", &otherCA)
	if err != nil {
		return c, err
	}
	files := map[string][]byte{
		c.CAFile:         ca.certPEM(),
		c.CertFile:       client.certPEM(),
		c.KeyFile:        client.keyPEM(),
		c.OtherCAFile:    otherCA.certPEM(),
		c.OtherCertFile:  other.certPEM(),
		c.OtherKeyFile:   other.keyPEM(),
		c.serverKeystore: append(server.keyPEM(), server.certPEM()...),
	}
	for file, content := range files {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return c, err
		}
	}
	return c, nil
}

// issue makes a certificate signed by ca, or a CA of its own when ca is nil.
func issue(name string, ca *certificate) (certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := template, key
	if ca == nil {
		template.IsCA, template.BasicConstraintsValid = true, true
		template.KeyUsage |= x509.KeyUsageCertSign
		template.ExtKeyUsage = nil
	} else {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
		template.DNSNames = []string{"localhost"}
		parent, signer = ca.cert, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return certificate{}, err
	}
	cert, err := x509.ParseCertificate(der)
	return certificate{cert, key}, err
}

func (c certificate) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.cert.Raw})
}

// keyPEM is PKCS #8, the only form that Kafka reads.
func (c certificate) keyPEM() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(c.key)
	if err != nil {
		panic(err) // only for unknown kinds of keys
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
