package tlsfile

import (
	"bytes"
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// Names are the files of a TLS client, all PEM. Every field may be empty.
type Names struct {
	// CAFile holds the authorities that may sign the server's certificate, instead of the system's.
	CAFile string
	// CertFile and KeyFile are the client's certificate chain (leaf first) and its key, for mutual TLS; they come together.
	CertFile, KeyFile string
	// ServerName is the name to look for in the server's certificate, instead of the host that is dialled.
	ServerName string
}

// Source is the TLS client configuration that the files make now. It is safe for concurrent use.
type Source struct {
	field string // the files' keys in the configuration begin with it
	names Names

	mu      sync.Mutex
	stamps  [3]stamp // of what was read last, usable or not
	content [3][]byte
	config  *tls.Config // of what could last be used
	err     error       // why what was read last is not it
}

// racy is how young a file must be at reading for its date to prove nothing: a second write may have the same one.
const racy = 2 * time.Second

// stamp tells one state of a file from another without reading it.
type stamp struct {
	info  os.FileInfo // nil where the file cannot be looked at
	racy  bool
	again bool // it could not be read: look again each time
}

// Open reads the files. TLS 1.2 is the lowest version spoken. Errors name the key, which begins with field, such as
// «tls», and the file, all at once.
func Open(field string, names Names) (*Source, error) {
	s := &Source{field: field, names: names}
	s.read()
	if s.err != nil {
		return nil, s.err
	}
	return s, nil
}

// Config returns the configuration that the files make now: the same value until one of them has other content. A
// file may be replaced in place, by renaming, or by changing a symlink on the way to it. The caller clones it before
// changing it.
//
// The error says why files that changed cannot be used, such as a certificate whose key is still the old one; the
// configuration is then the last that could be, and is never nil.
func (s *Source) Config() (*tls.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed() {
		s.read()
	}
	return s.config, s.err
}

func (s *Source) files() [3]string {
	return [3]string{s.names.CAFile, s.names.CertFile, s.names.KeyFile}
}

// changed says whether a file may have other content than what was read.
func (s *Source) changed() bool {
	for i, file := range s.files() {
		if file == "" {
			continue
		}
		was := s.stamps[i]
		info, err := os.Stat(file) // follows symlinks
		if err != nil || was.again || was.racy || !os.SameFile(was.info, info) || info.Size() != was.info.Size() || !info.ModTime().Equal(was.info.ModTime()) {
			return true
		}
	}
	return false
}

// read takes in the files as they are.
func (s *Source) read() {
	var content [3][]byte
	var errs [3]error
	for i, file := range s.files() {
		if file == "" {
			continue
		}
		// The date is taken first: what is written after it is found by the next look.
		info, err := os.Stat(file)
		s.stamps[i] = stamp{info: info, again: err != nil}
		content[i], errs[i] = readFile(file)
		if errs[i] != nil {
			s.stamps[i].again = true
		} else if info != nil {
			s.stamps[i].racy = time.Since(info.ModTime()) < racy
		}
	}
	if s.config != nil && s.err == nil && same(content, s.content) && errs == [3]error{} {
		return
	}
	s.content = content
	config, err := s.names.config(s.field, content, errs)
	s.err = err
	if err == nil {
		s.config = config
	}
}

func same(a, b [3][]byte) bool {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
