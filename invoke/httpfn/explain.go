package httpfn

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/sluicehq/sluice/invoke"
)

// What is kept of a function's own words.
const (
	typeBytesMax    = 128
	messageBytesMax = 512
)

// words are the members in which functions and services say what went wrong, as they come.
type words struct {
	ErrorType    json.RawMessage `json:"errorType"`
	ErrorMessage json.RawMessage `json:"errorMessage"`
	Message      json.RawMessage `json:"message"`
	Error        json.RawMessage `json:"error"`
}

// explain fills in type and message from an error response: Lambda's errorType and errorMessage, an AWS service's
// message, or plain text. HTML pages say nothing that the status does not.
func explain(e *invoke.Error, header http.Header, body []byte) {
	if t := header.Get("X-Amzn-Errortype"); t != "" { // Code, Code:uri and uri#Code are all in use
		t, _, _ = strings.Cut(t, ":")
		e.Type = cut(t, typeBytesMax)
	}
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return
	}
	if body[0] != '{' {
		if !strings.Contains(header.Get("Content-Type"), "html") && body[0] != '<' {
			e.Message = cut(printable(string(body[:min(len(body), 2*messageBytesMax)])), messageBytesMax)
		}
		return
	}
	var w words
	if json.Unmarshal(body, &w) != nil { // cut short at errorBytesMax, perhaps: as text then
		e.Message = cut(printable(string(body[:min(len(body), 2*messageBytesMax)])), messageBytesMax)
		return
	}
	if t := text(w.ErrorType); t != "" {
		e.Type = cut(t, typeBytesMax)
	}
	for _, m := range []json.RawMessage{w.ErrorMessage, w.Message, w.Error} {
		if e.Message == "" {
			e.Message = cut(text(m), messageBytesMax)
		}
	}
}

// emulatorTimeout is what Lambda's runtime interface emulator answers, with status 200, when a function ran too long.
var emulatorTimeout = regexp.MustCompile(`^Task timed out after \d+\.\d+ seconds$`)

// errorInBody looks for an error in the body of a 2xx response: nil if it is none.
func errorInBody(status int, body []byte) *invoke.Error {
	body = bytes.TrimSpace(body)
	if len(body) < 100 && emulatorTimeout.Match(body) {
		return &invoke.Error{Kind: invoke.Timeout, Status: status, Message: string(body)}
	}
	if len(body) == 0 || body[0] != '{' ||
		!bytes.Contains(body, []byte(`"errorType"`)) || !bytes.Contains(body, []byte(`"errorMessage"`)) {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return nil
	}
	kind, message := members["errorType"], members["errorMessage"]
	if isNull(kind) || message == nil {
		return nil
	}
	return &invoke.Error{
		Kind: invoke.FunctionError, Status: status,
		Type: cut(text(kind), typeBytesMax), Message: cut(text(message), messageBytesMax),
	}
}

func isNull(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// text is a JSON string's text, or another value as it is written.
func text(value json.RawMessage) string {
	if isNull(value) {
		return ""
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		s = string(value)
	}
	return printable(s)
}

// printable takes out what is not text: a dead letter and a terminal will show it.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// cut shortens s to at most n bytes, at a rune's border.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
