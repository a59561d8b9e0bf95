package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// config reads the files and makes the TLS client configuration. TLS 1.2 is the lowest version spoken. Errors name
// the field and the file, all at once.
func (t *TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	var errs []error
	if t.CAFile != "" {
		pool, err := readCAs(t.CAFile)
		if err != nil {
			errs = append(errs, fmt.Errorf("tls.caFile %q: %w", t.CAFile, err))
		}
		c.RootCAs = pool
	}
	if t.CertFile != "" {
		cert, err := readPair(t.CertFile, t.KeyFile)
		if err != nil {
			errs = append(errs, err)
		}
		c.Certificates = []tls.Certificate{cert}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

func readCAs(file string) (*x509.CertPool, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, errors.New("holds no PEM certificate (-----BEGIN CERTIFICATE-----)")
	}
	return pool, nil
}

func readPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, certErr := readFile(certFile)
	if certErr != nil {
		certErr = fmt.Errorf("tls.certFile %q: %w", certFile, certErr)
	}
	key, keyErr := readFile(keyFile)
	if keyErr == nil && encrypted(key) {
		keyErr = errors.New("the key is encrypted; store it decrypted, with file permissions that protect it")
	}
	if keyErr != nil {
		keyErr = fmt.Errorf("tls.keyFile %q: %w", keyFile, keyErr)
	}
	if err := errors.Join(certErr, keyErr); err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("tls.certFile %q with tls.keyFile %q: %w", certFile, keyFile, err)
	}
	return pair, nil
}

// readFile reads a file without repeating its name in the error, which the caller gives.
func readFile(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return nil, pathErr.Err
	}
	return data, err
}

// encrypted recognises the two ways in which PEM keys are encrypted: PKCS#8, and the old header.
func encrypted(key []byte) bool {
	for block, rest := pem.Decode(key); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "" {
			return true
		}
	}
	return false
}
