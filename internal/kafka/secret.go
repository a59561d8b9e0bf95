package kafka

import (
	"fmt"
	"log/slog"
)

// Secret is a text that must not be shown: a password. Calling it gives the text as it is now, for one that stands in
// a file may change; the error says why it could not be read again, and the text is then what it was before. A nil
// Secret is none.
//
// However it is printed, logged or marshalled, on its own or inside something else, it reads Hidden; %p alone is beyond
// fmt's rules.
type Secret func() (string, error)

// Text is a secret that does not change.
func Text(text string) Secret {
	if text == "" {
		return nil
	}
	return func() (string, error) { return text, nil }
}

// Hidden is what a Secret shows of itself; a nil one shows nothing, so that a missing password can be seen.
const Hidden = "(hidden)"

// reveal returns the text for a login, and warns where it may be old.
func (s Secret) reveal(key string, log *slog.Logger) string {
	if s == nil {
		return ""
	}
	text, err := s()
	if err != nil {
		log.Warn("a secret cannot be read again; what it was before is used", "key", key, "error", err)
	}
	return text
}

// String returns Hidden, or "" if there is no secret.
func (s Secret) String() string {
	if s == nil {
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
