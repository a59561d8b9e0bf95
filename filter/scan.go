package filter

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Strings are looked at eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stringEnd returns where the string that begins behind its quote at i ends, at its closing quote; -1 if it is malformed.
// plain says that the bytes are the string as they are.
func stringEnd(data []byte, i int) (end int, plain bool) {
	for i+8 <= len(data) {
		marked := special(binary.LittleEndian.Uint64(data[i:]))
		if marked == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(marked) / 8
		if data[i] == '"' {
			return i, true
		}
		return oddStringEnd(data, i)
	}
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			return i, true
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			return oddStringEnd(data, i)
		}
	}
	return -1, false
}

// special marks, by their highest bits, the bytes of w that do not simply go on with a string: a quote, a backslash, a control
// character, or beyond ASCII. The lowest mark is right; those above it may be wrong.
//
// Exclusive or with 2 takes the quote, 0x22, to 0x20, beside the control characters, and the space, 0x20, away from there.
func special(w uint64) uint64 {
	return ((w ^ ones*2 - ones*0x21) | (w ^ ones*'\\' - ones) | w) & highs
}

// oddStringEnd goes on with a string in which an escape or something beyond ASCII stands at i.
func oddStringEnd(data []byte, i int) (end int, plain bool) {
	plain = true
	for i < len(data) {
		switch c := data[i]; {
		case c == '"':
			return i, plain
		case c < ' ':
			return -1, false
		case c == '\\':
			plain = false
			n := escapeLength(data[i:])
			if n == 0 {
				return -1, false
			}
			i += n
		case c < utf8.RuneSelf:
			i++
		default:
			_, n := utf8.DecodeRune(data[i:])
			if n == 1 {
				return -1, false
			}
			i += n
		}
	}
	return -1, false
}

// escapeLength is the length of the escape that data begins with, or 0 if it is none.
func escapeLength(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(data) >= 6 && hexDigit(data[2])|hexDigit(data[3])|hexDigit(data[4])|hexDigit(data[5]) >= 0 {
			return 6
		}
	}
	return 0
}

// unescape appends to buf what a well-formed piece of a string means. A lone surrogate is U+FFFD.
func unescape(buf, raw []byte) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		if c != '\\' {
			buf = append(buf, c)
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'b':
			buf = append(buf, '\b')
		case 'f':
			buf = append(buf, '\f')
		case 'n':
			buf = append(buf, '\n')
		case 'r':
			buf = append(buf, '\r')
		case 't':
			buf = append(buf, '\t')
		case 'u':
			r := unit(raw[i:])
			if high := r; high >= 0xd800 && high < 0xdc00 && len(raw) >= i+12 && raw[i+6] == '\\' && raw[i+7] == 'u' {
				if low := unit(raw[i+6:]); low >= 0xdc00 && low < 0xe000 {
					r = (high-0xd800)<<10 | (low - 0xdc00) + 0x10000
					i += 6
				}
			}
			buf = utf8.AppendRune(buf, r) // U+FFFD for half a pair
			i += 4
		default:
			buf = append(buf, c)
		}
		i += 2
	}
	return buf
}

// unit is the UTF-16 unit of an escape \uXXXX.
func unit(escape []byte) rune {
	return rune(hexDigit(escape[2])<<12 | hexDigit(escape[3])<<8 | hexDigit(escape[4])<<4 | hexDigit(escape[5]))
}

// numberEnd returns where the number that begins at i ends, or -1 if it is malformed.
func numberEnd(data []byte, i int) int {
	if i < len(data) && data[i] == '-' {
		i++
	}
	first := i
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	if i == first || data[first] == '0' && i > first+1 {
		return -1
	}
	if i < len(data) && data[i] == '.' {
		i++
		first = i
		for i < len(data) && data[i]-'0' <= 9 {
			i++
		}
		if i == first {
			return -1
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		first = i
		for i < len(data) && data[i]-'0' <= 9 {
			i++
		}
		if i == first {
			return -1
		}
	}
	return i
}

// wordEnd returns where the word that has to stand at i ends, or -1.
func wordEnd(data []byte, i int, word string) int {
	if len(data)-i < len(word) || string(data[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

// space skips white space.
func space(data []byte, i int) int {
	if i < len(data) && data[i] > ' ' {
		return i
	}
	return moreSpace(data, i)
}

func moreSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}
