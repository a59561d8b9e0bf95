package filter

import (
	"bytes"
	"slices"
)

// literal is a set of JSON's three words.
type literal byte

const (
	literalNull literal = 1 << iota
	literalTrue
	literalFalse
)

// tests are the tests of one field. A value is accepted if one of them accepts it.
type tests struct {
	texting
	source    *value // as written
	absent    bool   // exists: false
	present   bool   // exists: true
	literals  literal
	strings   stringSet
	addresses []address
	blocks    []block
	numbers   []float64
	written   []string // numbers that cannot be compared, which equal what is written alike
	ranges    []interval
	buts      []but
	numeric   bool // a number has to be read
}

// texting are tests that accept nothing but strings.
type texting struct {
	prefixes, suffixes [][]byte
	folds              []fold
	globs              []glob
}

// but is an anything-but: it accepts what it does not name.
type but struct {
	texting
	strings stringSet
	numbers []float64
}

// interval is the operand of numeric.
type interval struct {
	lower, upper         float64
	withLower, withUpper bool
}

func (r interval) holds(f float64) bool {
	return (f > r.lower || r.withLower && f == r.lower) && (f < r.upper || r.withUpper && f == r.upper)
}

// exact adds a string. One that is an address accepts every way to write that address, as in the reference.
func (t *tests) exact(s string) {
	if a, ok := parseAddress([]byte(s)); ok {
		t.addresses = append(t.addresses, a)
		return
	}
	t.strings.add(s)
}

func (t *tests) number(text string) {
	if f, ok := parseNumber([]byte(text)); ok {
		t.numbers = append(t.numbers, f)
		return
	}
	t.written = append(t.written, text)
}

func (t *texting) affix(name, s string) {
	if name == "prefix" {
		t.prefixes = append(t.prefixes, []byte(s))
	} else {
		t.suffixes = append(t.suffixes, []byte(s))
	}
}

// ready ends the building.
func (t *tests) ready() {
	t.strings.ready()
	t.numeric = len(t.numbers)+len(t.ranges) > 0
	for i := range t.buts {
		t.numeric = t.numeric || len(t.buts[i].numbers) > 0
	}
}

func (b *but) ready() { b.strings.ready() }

// acceptsString says whether a string passes. Its bytes are as they came, without escapes, and may not be UTF-8.
func (t *tests) acceptsString(s []byte) bool {
	if t.present || t.strings.has(s) || t.texting.accepts(s) {
		return true
	}
	if len(t.addresses)+len(t.blocks) > 0 && t.acceptsAddress(s) {
		return true
	}
	for i := range t.buts {
		if b := &t.buts[i]; !b.strings.has(s) && !b.texting.accepts(s) {
			return true
		}
	}
	return false
}

func (t *tests) acceptsAddress(s []byte) bool {
	a, ok := parseAddress(s)
	if !ok {
		return false
	}
	for i := range t.blocks {
		if t.blocks[i].holds(a) {
			return true
		}
	}
	return slices.Contains(t.addresses, a)
}

func (t *texting) accepts(s []byte) bool {
	for _, p := range t.prefixes {
		if bytes.HasPrefix(s, p) {
			return true
		}
	}
	for _, p := range t.suffixes {
		if bytes.HasSuffix(s, p) {
			return true
		}
	}
	for i := range t.folds {
		if t.folds[i].accepts(s) {
			return true
		}
	}
	for i := range t.globs {
		if t.globs[i].accepts(s) {
			return true
		}
	}
	return false
}

// acceptsNumber says whether a number passes, which is given as written.
func (t *tests) acceptsNumber(text []byte) bool {
	if t.present {
		return true
	}
	for _, w := range t.written {
		if string(text) == w {
			return true
		}
	}
	var f float64
	comparable := false
	if t.numeric {
		f, comparable = parseNumber(text)
	}
	if comparable {
		if slices.Contains(t.numbers, f) {
			return true
		}
		for _, r := range t.ranges {
			if r.holds(f) {
				return true
			}
		}
	}
	for i := range t.buts {
		if !comparable || !slices.Contains(t.buts[i].numbers, f) {
			return true
		}
	}
	return false
}

func (t *tests) acceptsLiteral(l literal) bool {
	return t.present || t.literals&l != 0 || len(t.buts) > 0
}

// stringSet is a set of strings: a list while it is short, a table when it is long.
type stringSet struct {
	lengths uint64 // bit n is set if one has n bytes modulo 64
	list    []string
	table   map[string]struct{}
}

// stringsListed is how many are compared one by one; from there on a table is faster.
const stringsListed = 8

func (s *stringSet) add(text string) {
	s.list = append(s.list, text)
	s.lengths |= 1 << (len(text) & 63)
}

func (s *stringSet) ready() {
	if len(s.list) <= stringsListed {
		return
	}
	s.table = make(map[string]struct{}, len(s.list))
	for _, text := range s.list {
		s.table[text] = struct{}{}
	}
}

func (s *stringSet) has(text []byte) bool {
	if s.lengths&(1<<(len(text)&63)) == 0 {
		return false
	}
	if s.table != nil {
		_, ok := s.table[string(text)]
		return ok
	}
	for _, of := range s.list {
		if string(text) == of {
			return true
		}
	}
	return false
}
