package field

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Place is where something stands in a file. Line and Col count from 1; a zero Line means that the place is not known.
type Place struct {
	File      string
	Line, Col int
}

// String returns «file:line:col».
func (p Place) String() string {
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// NodeKind is the kind of a value.
type NodeKind int

// The kinds of values.
const (
	Null NodeKind = iota
	Boolean
	Integer
	Float
	Text
	Sequence
	Dictionary
	// Broken is a value that could not be read and has been reported: it counts as there, and nothing more is said of it.
	Broken
)

// String returns what an error calls a value of that kind.
func (k NodeKind) String() string {
	return [...]string{"nothing", "true or false", "a whole number", "a number", "text", "a list", "an object", "unreadable"}[k]
}

// Node is one value of a configuration and the place it came from.
type Node struct {
	Kind NodeKind
	// Text is a scalar's text: of Boolean "true" or "false", of Integer decimal digits, of Float what was written.
	Text string
	// Reference is the scalar as written where it held a «${…}», else empty. The Text of such a scalar came from outside the
	// file and may be secret: it is never shown, and it is read as whatever type its field wants.
	Reference string
	// Items are the elements of a Sequence.
	Items []*Node
	// Members are the members of a Dictionary, in their order, without duplicates.
	Members []Member
	Place   Place
}

// Member is one key of a dictionary and its value.
type Member struct {
	Key string
	// Place is the key's.
	Place Place
	Value *Node
}

// Member returns the member with that key, or nil. A nil node has none.
func (n *Node) Member(key string) *Member {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return &n.Members[i]
		}
	}
	return nil
}

// At returns the value at a dotted path of keys, or nil where one of them is missing.
func (n *Node) At(path string) *Node {
	m := n.memberAt(path)
	if m == nil {
		return nil
	}
	return m.Value
}

// memberAt returns the member at a dotted path of keys, or nil where one of them is missing.
func (n *Node) memberAt(path string) *Member {
	var m *Member
	for key := range strings.SplitSeq(path, ".") {
		if m = n.Member(key); m == nil {
			return nil
		}
		n = m.Value
	}
	return m
}

// shownMax is the most characters of a value that an error repeats.
const shownMax = 60

// Shown returns the value as an error may show it: shortened, and as it was written where it came from outside the file.
func (n *Node) Shown() string {
	switch n.Kind {
	case Null, Sequence, Dictionary, Broken:
		return n.Kind.String()
	}
	text := n.Text
	if n.Reference != "" {
		text = n.Reference
	}
	if runes := []rune(text); len(runes) > shownMax {
		text = string(runes[:shownMax]) + "…"
	}
	if n.Reference == "" && n.Kind == Text {
		return strconv.Quote(text)
	}
	return text
}

// broken says whether the value or one within it could not be read.
func (n *Node) broken() bool {
	switch n.Kind {
	case Broken:
		return true
	case Sequence:
		return slices.ContainsFunc(n.Items, (*Node).broken)
	case Dictionary:
		return slices.ContainsFunc(n.Members, func(m Member) bool { return m.Value.broken() })
	}
	return false
}

// JSON returns the value as JSON text, keys in their order and numbers as they were written where JSON can write them so.
// It fails on a number that JSON has not (infinite, not a number).
func (n *Node) JSON() (string, error) {
	var b strings.Builder
	err := n.appendJSON(&b)
	return b.String(), err
}

func (n *Node) appendJSON(b *strings.Builder) error {
	switch n.Kind {
	case Null:
		b.WriteString("null")
	case Boolean, Integer:
		b.WriteString(n.Text)
	case Float:
		return n.appendFloat(b)
	case Text:
		b.WriteString(jsonString(n.Text))
	case Sequence:
		return n.appendList(b)
	case Dictionary:
		return n.appendObject(b)
	}
	return nil
}

func (n *Node) appendFloat(b *strings.Builder) error {
	if json.Valid([]byte(n.Text)) {
		b.WriteString(n.Text)
		return nil
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(n.Text, "_", ""), 64)
	if err != nil || f-f != 0 {
		return fmt.Errorf("%s is a number that JSON does not have", n.Shown())
	}
	b.WriteString(strconv.FormatFloat(f, 'g', -1, 64))
	return nil
}

func (n *Node) appendList(b *strings.Builder) error {
	b.WriteByte('[')
	for i, item := range n.Items {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := item.appendJSON(b); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func (n *Node) appendObject(b *strings.Builder) error {
	b.WriteByte('{')
	for i, m := range n.Members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(jsonString(m.Key))
		b.WriteByte(':')
		if err := m.Value.appendJSON(b); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func jsonString(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(fmt.Sprintf("field: encode a string of %d bytes: %v", len(s), err)) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
