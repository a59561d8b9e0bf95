package config

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/sluicehq/sluice/mapping/field"
)

// checkTLSFiles looks whether the files of the tls blocks are there and hold what they should, so that a wrong one is found
// with its place and not at the first connection.
func (l *loader) checkTLSFiles(root *field.Node) {
	for _, block := range []string{"clusters", "functions"} {
		for _, m := range members(root, block) {
			path := block + "." + m.Key
			if tls := m.Value.At("tls"); tls != nil && tls.Kind == field.Dictionary {
				l.checkAuthorities(tls, path+".tls", "caFile")
				l.checkKeyPair(tls, path+".tls")
			}
			if sasl := m.Value.At("sasl"); sasl != nil && block == "clusters" {
				l.checkAuthorities(sasl, path+".sasl", "tokenEndpointCaFile")
			}
		}
	}
}

func (l *loader) checkAuthorities(block *field.Node, path, key string) {
	if ca, n := l.fileOf(block, path, key); ca != nil && !x509.NewCertPool().AppendCertsFromPEM(ca) {
		l.errs.add(n.Place, path+"."+key, "", "file %s holds no PEM certificate", shownFile(n))
	}
}

func (l *loader) checkKeyPair(block *field.Node, path string) {
	cert, n := l.fileOf(block, path, "certFile")
	key, _ := l.fileOf(block, path, "keyFile")
	if cert == nil || key == nil {
		return
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		l.errs.add(n.Place, path+".certFile", "", "does not go with keyFile: %s", err)
	}
}

// fileOf reads the file that a key names; nil where the key is missing or wrong, or the file cannot be read.
func (l *loader) fileOf(block *field.Node, path, key string) ([]byte, *field.Node) {
	n := textAt(block, key)
	if n == nil {
		return nil, nil
	}
	name := beside(n.Place.File, n.Text)
	l.certificates = append(l.certificates, name)
	data, err := l.options.ReadFile(name)
	if err != nil {
		l.errs.add(n.Place, path+"."+key, "", "file %s cannot be read: %s", shownFile(n), reason(err))
		return nil, nil
	}
	if data == nil {
		data = []byte{}
	}
	return data, n
}

// shownFile returns a file's name as errors may show it.
func shownFile(n *field.Node) string {
	if n.Reference != "" {
		return n.Reference
	}
	return beside(n.Place.File, n.Text)
}
