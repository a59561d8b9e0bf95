package invoke

import (
	"strings"

	"github.com/sluicehq/sluice/record"
)

// Header is one HTTP header of a request. Whoever makes one sees to it that Name is a token in canonical form
// (RFC 9110, section 5.1) and stands once in a request, and that Value is printable ASCII, whatever a record holds.
type Header struct{ Name, Value string }

// HeaderBytesMax bounds the headers of one request that come from a record: names, values and the four bytes between
// and behind them. Many servers take 8 KiB of headers in all (Jetty, Tomcat) or a line (gunicorn, Apache); the rest
// is for the request's own.
const HeaderBytesMax = 6 << 10

// size is what the header takes on a connection.
func (h Header) size() int { return len(h.Name) + len(h.Value) + len(": \r\n") }

// headerText says which bytes stand in a header's value as they are, by the rule of the CloudEvents HTTP protocol
// binding, section 3.1.3.2: printable ASCII without blank, double quote and percent. All others are percent-encoded,
// so that any percent-decoder gives the bytes back.
var headerText = func() (t [256]bool) {
	for c := '!'; c <= '~'; c++ {
		t[c] = c != '"' && c != '%'
	}
	return t
}()

// unreserved says which bytes stand in the fields of a form as they are (RFC 3986, section 2.3).
var unreserved = func() (t [256]bool) {
	for c := '0'; c <= 'z'; c++ {
		t[c] = c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a'
	}
	t['-'], t['.'], t['_'], t['~'] = true, true, true, true
	return t
}()

// isHeaderText says whether s stands in a header as it is.
func isHeaderText(s string) bool {
	for i := range len(s) {
		if !headerText[s[i]] {
			return false
		}
	}
	return true
}

// appendPercent appends s with every byte percent-encoded that as does not leave alone.
func appendPercent[T ~string | ~[]byte](dst []byte, s T, as *[256]bool) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; as[c] {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

// appendField appends a record's header as a field of a form: name=value, or the name alone where the value is null.
//
// A list of fields, joined by &, keeps names, order, repetitions and bytes exactly, and every language reads it
// (application/x-www-form-urlencoded); separate HTTP headers would lose the names' case, the order, whatever is no
// token, and on the way through some proxies whatever has a dot or an underscore.
func appendField(dst []byte, key string, value []byte) []byte {
	dst = appendPercent(dst, key, &unreserved)
	if value == nil && key != "" { // a field must not be empty
		return dst
	}
	return appendPercent(append(dst, '='), value, &unreserved)
}

// appendFields appends the record's headers as fields, without the one at index except, as long as they fit in room
// bytes. It says how many were left out; those behind one that is too long may still fit.
func appendFields(dst []byte, r *record.Record, except, room int) ([]byte, int) {
	omitted, start := 0, len(dst)
	for i := range r.Headers {
		if i == except {
			continue
		}
		before, h := len(dst), &r.Headers[i]
		if before-start+len(h.Key)+len(h.Value) > room { // need not be encoded to see it
			omitted++
			continue
		}
		if before > start {
			dst = append(dst, '&')
		}
		dst = appendField(dst, h.Key, h.Value)
		if len(dst)-start > room {
			dst = dst[:before]
			omitted++
		}
	}
	return dst, omitted
}

// canonical is the canonical form of a prefix that ends in a hyphen and a name of small letters and digits.
func canonical(prefix, name string) string {
	return prefix + strings.ToUpper(name[:1]) + name[1:]
}
