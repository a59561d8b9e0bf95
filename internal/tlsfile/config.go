package tlsfile

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
)

// FileBytesMax is the most bytes that a file may have.
const FileBytesMax = 1 << 20

// The files by their place in lists.
const (
	caAt = iota
	certAt
	keyAt
)

// config makes the configuration of what the files hold, or says everything that is wrong with them.
func (n Names) config(field string, content [3][]byte, read [3]error) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: n.ServerName}
	var errs []error
	wrong := func(key, file string, err error) {
		errs = append(errs, fmt.Errorf("%s.%s %q: %w", field, key, file, err))
	}
	if n.CAFile != "" {
		c.RootCAs = x509.NewCertPool()
		if read[caAt] != nil {
			wrong("caFile", n.CAFile, read[caAt])
		} else if !c.RootCAs.AppendCertsFromPEM(content[caAt]) {
			wrong("caFile", n.CAFile, errors.New("holds no PEM certificate (-----BEGIN CERTIFICATE-----)"))
		}
	}
	if n.CertFile == "" && n.KeyFile == "" {
		return c, errors.Join(errs...)
	}
	if n.CertFile == "" || n.KeyFile == "" {
		errs = append(errs, fmt.Errorf("%s.certFile %q and %s.keyFile %q: mutual TLS needs both, TLS alone neither",
			field, n.CertFile, field, n.KeyFile))
		return nil, errors.Join(errs...)
	}
	if read[keyAt] == nil && encrypted(content[keyAt]) {
		read[keyAt] = errors.New("the key is encrypted; store it decrypted, with file permissions that protect it")
	}
	if read[certAt] != nil {
		wrong("certFile", n.CertFile, read[certAt])
	}
	if read[keyAt] != nil {
		wrong("keyFile", n.KeyFile, read[keyAt])
	}
	if read[certAt] == nil && read[keyAt] == nil {
		pair, err := tls.X509KeyPair(content[certAt], content[keyAt])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s.certFile %q with %s.keyFile %q: %w", field, n.CertFile, field, n.KeyFile, err))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, errors.Join(errs...)
}

// readFile reads a file without repeating its name in the error, which the caller gives.
func readFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err == nil {
		defer f.Close() //nolint:errcheck // read only
		var data []byte
		if data, err = io.ReadAll(io.LimitReader(f, FileBytesMax+1)); err == nil {
			if len(data) > FileBytesMax {
				return nil, fmt.Errorf("is larger than %d bytes", FileBytesMax)
			}
			return data, nil
		}
	}
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return nil, pathErr.Err
	}
	return nil, err
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
