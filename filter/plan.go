package filter

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
)

// node is a name in the tree of what patterns name. Paths are joined with dots, in pattern and document alike: the name "a.b" of
// a document is the b in a.
type node struct {
	fields  []int32 // that are tested here
	names   []name  // one step below; none has a dot
	deep    []name  // those of them with more below
	lengths uint64  // bit n is set if one has n bytes modulo 64
	table   map[string]*node
}

type name struct {
	word uint64 // the first eight bytes of the text
	text string
	node *node
}

// firstWord is the first eight bytes of a name; what is missing is zero.
func firstWord(text []byte) uint64 {
	if cap(text) >= 8 {
		w := binary.LittleEndian.Uint64(text[:8])
		if len(text) < 8 {
			w &= 1<<(8*len(text)) - 1
		}
		return w
	}
	var w uint64
	for i, c := range text {
		w |= uint64(c) << (8 * i)
	}
	return w
}

// namesListed is how many names are compared one by one; from there on a table is faster.
const namesListed = 12

// below returns the node of a name, or nil.
func (n *node) below(key []byte) *node {
	if n.lengths&(1<<(len(key)&63)) != 0 {
		if n.table != nil {
			if child := n.table[string(key)]; child != nil {
				return child
			}
		} else {
			w := firstWord(key)
			for i := range n.names {
				of := &n.names[i]
				if of.word == w && len(of.text) == len(key) && (len(key) <= 8 || string(key[8:]) == of.text[8:]) {
					return of.node
				}
			}
		}
	}
	for i := range n.deep {
		if d := &n.deep[i]; len(key) > len(d.text) && key[len(d.text)] == '.' && string(key[:len(d.text)]) == d.text {
			return d.node.below(key[len(d.text)+1:])
		}
	}
	return nil
}

// part is what patterns say of a key or value.
type part struct {
	node   *node   // nil if none names it
	inside *node   // the same without its own tests, which are not for JSON
	text   []int32 // the fields of patterns that are for text: a list of tests
	json   []int32 // of those that are for JSON: an object of fields
}

// Indexes of Filter.parts.
const (
	partValue = iota
	partKey
)

var partNames = [...]string{"value", "key"}

// metadata are the nodes of what a record has beside key and value; nil where no pattern names it.
type metadata struct {
	topic, partition, offset, timestamp, timestampType, headers *node
}

// newFilter makes branches into a plan.
func newFilter(rules Rules, all []clauses) *Filter {
	f := &Filter{rules: rules, root: &node{}}
	f.scratch.New = func() any { return newMatcher(f) }
	f.number(all)
	for i := range f.fields {
		path := f.fields[i].path
		n := f.root.grow(path)
		n.fields = append(n.fields, int32(i))
	}
	f.root.ready()
	for i, name := range partNames {
		f.parts[i] = f.part(name)
	}
	f.of = metadata{
		topic: f.root.below([]byte("topic")), partition: f.root.below([]byte("partition")), offset: f.root.below([]byte("offset")),
		timestamp: f.root.below([]byte("timestamp")), timestampType: f.root.below([]byte("timestampType")),
		headers: f.root.below([]byte("headers")),
	}
	return f
}

// number gives the fields of all branches their numbers, ascending by path; equal ones have the same.
func (f *Filter) number(all []clauses) {
	type key struct {
		path  string
		tests *tests
	}
	known := map[key]int32{}
	for _, b := range all {
		for path, t := range b {
			known[key{path, t}] = 0
		}
	}
	keys := make([]key, 0, len(known))
	for k := range known {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(compareUTF16(a.path, b.path), cmp.Compare(a.tests.source.at, b.tests.source.at))
	})
	for i, k := range keys {
		known[k] = int32(i)
		f.fields = append(f.fields, field{path: k.path, tests: k.tests})
	}
	for i, b := range all {
		var made branch
		for path, t := range b {
			n := known[key{path, t}]
			made.fields = append(made.fields, n)
			made.absences = made.absences || t.absent
			f.fields[n].branches = append(f.fields[n].branches, int32(i))
		}
		slices.Sort(made.fields)
		f.branches = append(f.branches, made)
		f.absences = f.absences || made.absences
	}
}

// compareUTF16 compares by UTF-16 code units, in which the reference decides its fields.
func compareUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// grow returns the node of a path, and makes those on the way.
func (n *node) grow(path string) *node {
	for {
		key, rest, more := strings.Cut(path, ".")
		i := slices.IndexFunc(n.names, func(of name) bool { return of.text == key })
		if i < 0 {
			i = len(n.names)
			n.names = append(n.names, name{firstWord([]byte(key)), key, &node{}})
		}
		n = n.names[i].node
		if !more {
			return n
		}
		path = rest
	}
}

// ready ends the building of n and all below it.
func (n *node) ready() {
	for _, of := range n.names {
		of.node.ready()
		n.lengths |= 1 << (len(of.text) & 63)
		if len(of.node.names) > 0 {
			n.deep = append(n.deep, of)
		}
	}
	if len(n.names) > namesListed {
		n.table = make(map[string]*node, len(n.names))
		for _, of := range n.names {
			n.table[of.text] = of.node
		}
	}
}

// part collects what is said of a key or value.
func (f *Filter) part(name string) part {
	p := part{node: f.root.below([]byte(name))}
	if p.node != nil {
		inside := *p.node
		inside.fields = nil
		p.inside = &inside
	}
	for i := range f.fields {
		switch rest, found := strings.CutPrefix(f.fields[i].path, name); {
		case !found:
		case rest == "":
			p.text = append(p.text, int32(i))
		case rest[0] == '.':
			p.json = append(p.json, int32(i))
		}
	}
	return p
}
