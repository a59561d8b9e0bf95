package config

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/sluicehq/sluice/mapping/field"
)

// checkTLSFiles looks whether the files of the clusters' tls blocks are there and hold what they should, so that a wrong one
// is found with its place and not at the first connection.
func (l *loader) checkTLSFiles(root *field.Node) {
	for _, c := range members(root, "clusters") {
		block := c.Value.At("tls")
		if block == nil || block.Kind != field.Dictionary {
			continue
		}
		path := "clusters." + c.Key + ".tls"
		if ca, n := l.fileOf(block, path, "caFile"); ca != nil && !x509.NewCertPool().AppendCertsFromPEM(ca) {
			l.errs.add(n.Place, path+".caFile", "", "file %s holds no PEM certificate", shownFile(n))
		}
		l.checkKeyPair(block, path)
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
