package invoke

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A function's response is small and read for three members whose names must match to the letter, which
// encoding/json does not promise and its tokens would make slow (35 allocations an item). These functions walk text
// that json.Valid has passed, and nothing else. Values are slices of it, without surrounding blanks.

const jsonBlanks = " \t\r\n"

// jsonMembers calls read with each member's name and value, in order, until read fails.
func jsonMembers(object []byte, read func(name, value []byte) error) error {
	rest := object[1:]
	for {
		rest = bytes.TrimLeft(rest, jsonBlanks+",")
		if rest[0] == '}' {
			return nil
		}
		n := jsonEnd(rest)
		name := jsonText(rest[:n])
		rest = bytes.TrimLeft(rest[n:], jsonBlanks+":")
		n = jsonEnd(rest)
		if err := read(name, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
}

// jsonElements calls read with each element's place and value, in order, until read fails.
func jsonElements(array []byte, read func(i int, value []byte) error) error {
	rest := array[1:]
	for i := 0; ; i++ {
		rest = bytes.TrimLeft(rest, jsonBlanks+",")
		if rest[0] == ']' {
			return nil
		}
		n := jsonEnd(rest)
		if err := read(i, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
}

// jsonEnd is the length of the value that text begins with.
func jsonEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']', ',', ' ', '\t', '\r', '\n':
			if text[i] == '}' || text[i] == ']' {
				if depth--; depth == 0 {
					return i + 1
				}
			}
			if depth <= 0 {
				return i // a number or a word ends before what follows it
			}
		}
	}
	return len(text)
}

// jsonText is the text of a JSON string; a slice of it where nothing is escaped.
func jsonText(value []byte) []byte {
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner
	}
	var s string
	_ = json.Unmarshal(value, &s) // valid text
	return []byte(s)
}
