package config

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a text that shows itself nowhere: not in logs, formatted output, JSON or YAML. The zero value is no secret.
type Secret struct{ text string }

// hidden is what a secret shows instead of its text.
const hidden = "[secret]"

// NewSecret returns text as a secret.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text, for the one place that sends it.
func (s Secret) Reveal() string { return s.text }

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
