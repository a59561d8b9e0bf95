package kafka

import (
	"fmt"
	"log/slog"
)

// Secret is a text that must not be shown: a password. However it is printed, logged or marshalled, on its own or
// inside something else, it reads Hidden; %p alone is beyond fmt's rules. A conversion to string gives the text itself.
type Secret string

// Hidden is what a Secret shows of itself; an empty one shows nothing, so that a missing password can be seen.
const Hidden = "(hidden)"

// String returns Hidden, or "" if there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Hidden
}

// GoString returns what String does, for %#v.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format writes what String does, whatever the verb.
func (s Secret) Format(f fmt.State, verb rune) {
	out := s.String()
	if verb == 'q' || (verb == 'v' && f.Flag('#')) {
		out = s.GoString()
	}
	_, _ = f.Write([]byte(out)) // fmt keeps its own error
}

// LogValue hides the secret from log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the secret from encoding/json and from every encoder that knows texts.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
