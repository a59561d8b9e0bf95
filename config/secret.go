package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sluicehq/sluice/mapping/field"
)

// Secret is a text that shows itself nowhere: not in logs, formatted output, JSON or YAML. The zero value is no secret.
//
// One that was written with «${file:…}» can be read again, so that a password may be rotated without a restart.
type Secret struct {
	text string
	from *origin
}

// origin is how a secret that stands in files was written.
type origin struct {
	file, written string
	options       Options

	mu   sync.Mutex
	last string
}

// secretMax is the longest secret, in characters.
const secretMax = 4096

// hidden is what a secret shows instead of its text.
const hidden = "[secret]"

// NewSecret returns text as a secret.
func NewSecret(text string) Secret { return Secret{text: text} }

// secretAt returns the text at a path as a secret, none where it is missing.
func secretAt(n *field.Node, path string, o Options) Secret {
	v := n.At(path)
	if v == nil {
		return Secret{}
	}
	return secretOf(v, o)
}

func secretOf(v *field.Node, o Options) Secret {
	s := NewSecret(v.Text)
	if strings.Contains(v.Reference, "${file:") {
		s.from = &origin{file: v.Place.File, written: v.Reference, options: o, last: v.Text}
	}
	return s
}

// Reveal returns the text as it was when the configuration was loaded.
func (s Secret) Reveal() string { return s.text }

// FromFile says whether the text stands in a file, and so may be another at the next Read.
func (s Secret) FromFile() bool { return s.from != nil }

// Read returns the text for the one place that sends it, as its file has it now. The error says why it could not be read
// again, or is no secret any more; the text is then what it was before. Trying again helps once the file is right. It is
// safe for concurrent use.
func (s Secret) Read() (string, error) {
	if s.from == nil {
		return s.text, nil
	}
	return s.from.read()
}

func (o *origin) read() (string, error) {
	x := expander{options: o.options, left: ExpandedBytesMax}
	text, _, wrong := x.expand(o.file, o.written)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(wrong) > 0:
		return o.last, errors.New(strings.Join(wrong, "; "))
	case text == "":
		return o.last, fmt.Errorf("%s is empty", o.written)
	case utf8.RuneCountInString(text) > secretMax:
		return o.last, fmt.Errorf("%s is longer than %d characters", o.written, secretMax)
	}
	o.last = text
	return text, nil
}

// IsZero says whether there is no secret.
func (s Secret) IsZero() bool { return s.text == "" }

// String returns «[secret]», or "" where there is none.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return hidden
}

// Format writes what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) } //nolint:errcheck // fmt's state takes every write

// LogValue returns what String returns.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns what String returns; JSON and YAML are written by way of it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
