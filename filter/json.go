package filter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// value is a piece of a pattern's JSON that knows where it stands. Names and strings are unescaped; lone surrogates are
// U+FFFD, as everywhere in this package.
type value struct {
	kind    kind
	at      int    // byte offset in the pattern
	text    string // of a string unescaped, of a number as written
	members []member
	items   []*value
}

type member struct {
	name  string
	at    int
	value *value
}

type kind byte

const (
	kindNull kind = iota
	kindFalse
	kindTrue
	kindNumber
	kindString
	kindList
	kindObject
)

// shown is the value as an error shows it: short.
func (v *value) shown() string {
	switch v.kind {
	case kindNull:
		return "null"
	case kindFalse:
		return "false"
	case kindTrue:
		return "true"
	case kindNumber:
		return short(v.text)
	case kindString:
		return quoted(v.text)
	case kindList:
		return "a list"
	default:
		return "an object"
	}
}

// shownMax is how many characters of a text an error shows.
const shownMax = 40

func short(text string) string {
	if runes := []rune(text); len(runes) > shownMax {
		return string(runes[:shownMax]) + "…"
	}
	return text
}

func quoted(text string) string { return fmt.Sprintf("%q", short(text)) }

// endOfJSON is what encoding/json says of a text that ends too early: then its offset is that of the end.
const endOfJSON = "unexpected end of JSON input"

// readJSON reads strict JSON. The error, if not nil, stands at the returned offset.
func readJSON(text string) (v *value, at int, err error) {
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset > 0 && err.Error() != endOfJSON {
			return nil, int(syntax.Offset) - 1, err // of the character that may not stand there
		}
		return nil, len(text), err
	}
	r := reader{text: text, decoder: json.NewDecoder(strings.NewReader(text))}
	r.decoder.UseNumber()
	r.next()
	return r.value(), 0, nil
}

// reader walks over the tokens of a text that is JSON.
type reader struct {
	text    string
	decoder *json.Decoder
	token   json.Token
	at      int // where the token begins
}

func (r *reader) next() {
	i := int(r.decoder.InputOffset())
	for i < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[i]) >= 0 {
		i++
	}
	r.at = i
	var err error
	if r.token, err = r.decoder.Token(); err != nil {
		panic(fmt.Sprintf("filter: a token of valid JSON at %d: %v", i, err))
	}
}

// value returns the value whose first token is the current one, and stands on its last.
func (r *reader) value() *value {
	v := &value{at: r.at}
	switch t := r.token.(type) {
	case nil:
		v.kind = kindNull
	case bool:
		v.kind = kindFalse
		if t {
			v.kind = kindTrue
		}
	case json.Number:
		v.kind, v.text = kindNumber, t.String()
	case string:
		v.kind, v.text = kindString, t
	case json.Delim:
		if t == '[' {
			v.kind = kindList
			for r.next(); r.token != json.Delim(']'); r.next() {
				v.items = append(v.items, r.value())
			}
			return v
		}
		v.kind = kindObject
		for r.next(); r.token != json.Delim('}'); r.next() {
			m := member{name: r.token.(string), at: r.at}
			r.next()
			m.value = r.value()
			v.members = append(v.members, m)
		}
	}
	return v
}

// column returns the column of a byte offset, in characters from 1.
func column(text string, at int) int {
	at = min(max(at, 0), len(text))
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return utf8.RuneCountInString(text[:at]) + 1
}
