package invoke

import (
	"unicode/utf8"
)

// The event document holds three kinds of strings that are not ours: topics, header keys and bootstrap servers.
// They are written as encoding/json writes them with HTML escaping off: the same text for the same bytes, so that
// a consumer sees what any Go producer of the event would have sent.

// plain says which bytes stand in a JSON string as they are.
var plain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

const hexDigits = "0123456789abcdef"

// isPlain says whether s needs no escaping: the common case, and a short loop.
func isPlain(s string) bool {
	for i := range len(s) {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}

// appendString appends s as a JSON string with its quotes.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if isPlain(s) {
		dst = append(dst, s...)
	} else {
		dst = appendEscaped(dst, s)
	}
	return append(dst, '"')
}

// stringLen is the number of bytes that appendString appends.
func stringLen(s string) int {
	if isPlain(s) {
		return len(s) + 2
	}
	n := 2
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		n += escapedLen(r, size)
		i += size
	}
	return n
}

func appendEscaped(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch escapedLen(r, size) {
		case 2:
			dst = appendShortEscape(dst, r, s[i:i+size])
		case 6:
			// A byte that is not UTF-8 becomes U+FFFD, which RuneError is.
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return dst
}

// escapedLen is what a rune of size bytes takes inside a JSON string: itself, \x (2) or \uXXXX (6).
func escapedLen(r rune, size int) int {
	switch {
	case r == '"', r == '\\', r == '\b', r == '\f', r == '\n', r == '\r', r == '\t':
		return 2
	case r < 0x20, r == utf8.RuneError && size == 1, r == '\u2028', r == '\u2029':
		return 6
	}
	return size
}

// appendShortEscape appends a rune that takes two bytes: a short escape, or a letter of two UTF-8 bytes.
func appendShortEscape(dst []byte, r rune, raw string) []byte {
	switch r {
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case '"', '\\':
		return append(dst, '\\', byte(r))
	}
	return append(dst, raw...)
}
