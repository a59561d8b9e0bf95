package filter

import (
	"slices"
	"sort"
)

// choice is what a match keeps of arrays of objects, and how it chooses their elements.
//
// A branch holds if one value can be chosen for each of its fields, in ascending order of their paths, such that no two lie in
// different elements of one array. A field that may be absent is, if there is no value of it in the elements chosen so far
// or outside of all arrays.
//
// Where every path leads through one array at each level, which is so unless a document repeats a key or writes a path with
// dots beside the same path without, arrays that lie side by side have no fields in common, and each can be solved alone: the
// cost is about that of the values found. Elsewhere choices are tried one after the other. It takes stepsMax steps at most.
type choice struct {
	notes    []note
	elements []element
	arrays   int32 // how many were numbered
	tried    int   // how many notes there were when settled was asked last

	order  []int32 // the notes, by field and then in the order of the document
	starts []int32 // where in order those of a field begin
	views  []view  // a stack
	chosen []int32 // of each array the element that was chosen, plus 1
	steps  int
}

// none is in place of an element for what lies in no array of objects.
const none = -1

// note is a value of a field inside an array of objects.
type note struct {
	field, in int32
	accepted  bool
}

// element is an element of an array that has notes: those from first to before end.
type element struct {
	parent, array int32
	first, end    int32
}

// view is a field with those of its notes that lie in the elements chosen so far.
type view struct {
	field, from, to int32 // of order
	free, seen      bool  // an accepted value, any value, that no further choice excludes
	array           int32 // that the other values lie in, none if there are none, mixed if they lie in several
}

const mixed = -2

// stepsMax bounds how many elements and values a match may try. Only documents that were made for it need more. Beyond it
// the branch counts as holding: the function gets a record that it might not have got, and none is lost.
const stepsMax = 1 << 20

func (c *choice) reset() {
	c.notes, c.elements, c.views = c.notes[:0], c.elements[:0], c.views[:0]
	c.arrays, c.tried, c.steps = 0, 0, 0
}

// enter begins an element of an array.
func (c *choice) enter(parent, array int32) int32 {
	c.elements = append(c.elements, element{parent: parent, array: array, first: int32(len(c.notes))})
	return int32(len(c.elements) - 1)
}

// leave ends it, and forgets it if it has no notes.
func (c *choice) leave(e int32) {
	if c.elements[e].first == int32(len(c.notes)) {
		c.elements = c.elements[:e]
		return
	}
	c.elements[e].end = int32(len(c.notes))
}

// note keeps a value. Of scalars side by side in one array one is enough.
func (c *choice) note(field, in int32, accepted bool) {
	if last := len(c.notes) - 1; last >= 0 && c.notes[last].field == field && c.notes[last].in == in {
		c.notes[last].accepted = c.notes[last].accepted || accepted
		return
	}
	c.notes = append(c.notes, note{field, in, accepted})
}

// sort brings the notes into order.
func (c *choice) sort(fields int) {
	c.starts = zeroed(c.starts, fields+1)
	for i := range c.notes {
		c.starts[c.notes[i].field+1]++
	}
	for f := range fields {
		c.starts[f+1] += c.starts[f]
	}
	c.order = slices.Grow(c.order[:0], len(c.notes))[:len(c.notes)]
	for i := range c.notes {
		f := c.notes[i].field
		c.order[c.starts[f]] = int32(i)
		c.starts[f]++
	}
	copy(c.starts[1:], c.starts) // each had moved to where the next one begins
	c.starts[0] = 0
}

// zeroed returns n zeros, in the memory of s where that is enough.
func zeroed(s []int32, n int) []int32 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// consistent says whether a branch holds by what was noted. The notes are in order.
func (m *matcher) consistent(b int) bool {
	br := &m.filter.branches[b]
	m.views = m.views[:0]
	for _, f := range br.fields {
		if m.free[f] && !br.absences {
			continue
		}
		m.views = append(m.views, view{field: f, from: m.starts[f], to: m.starts[f+1], free: m.free[f], seen: m.seen[f]})
	}
	return m.solve(none, 0, len(m.views), br.absences)
}

// solve says whether the fields of views[from:to] can hold in the element in.
func (m *matcher) solve(in int32, from, to int, absences bool) bool {
	several := false
	for i := from; i < to; i++ {
		v := &m.views[i]
		m.look(v, in)
		several = several || v.array == mixed
		if v.array == none && !m.settles(v) {
			return false
		}
	}
	if several {
		return m.try(from, to)
	}
	top := len(m.views)
	defer func() { m.views = m.views[:top] }()
	for i := from; i < to; i++ {
		array := m.views[i].array
		if array == none || slices.ContainsFunc(m.views[from:i], func(v view) bool { return v.array == array }) {
			continue
		}
		m.views = m.views[:top]
		for j := i; j < to; j++ {
			if m.views[j].array == array {
				m.views = append(m.views, m.views[j])
			}
		}
		if !m.choose(array, in, top, len(m.views), absences) {
			return false
		}
	}
	return true
}

// settles says whether a field holds by what no further choice excludes.
func (m *matcher) settles(v *view) bool {
	return v.free || m.filter.fields[v.field].tests.absent && !v.seen
}

// look brings a view up to date for the element in.
func (m *matcher) look(v *view, in int32) {
	v.array = none
	for _, i := range m.order[v.from:v.to] {
		n := &m.notes[i]
		if n.in == in {
			v.seen, v.free = true, v.free || n.accepted
			continue
		}
		switch array := m.arrayBelow(n.in, in); v.array {
		case none:
			v.array = array
		case array:
		default:
			v.array = mixed
			return
		}
	}
}

// arrayBelow is the outermost array that holds the element e inside the element in.
func (m *matcher) arrayBelow(e, in int32) int32 {
	for m.elements[e].parent != in {
		e = m.elements[e].parent
	}
	return m.elements[e].array
}

// choose says whether the fields of views[from:to] can hold whose values, but for free ones, lie in one array inside the
// element in.
func (m *matcher) choose(array, in int32, from, to int, absences bool) bool {
	if from == to {
		return true
	}
	first := m.views[from]
	if first.free {
		if m.choose(array, in, from+1, to, absences) {
			return true
		}
		if !absences {
			return false
		}
	}
	top := len(m.views)
	defer func() { m.views = m.views[:top] }()
	for i := first.from; i < first.to; {
		e := m.notes[m.order[i]].in
		if e == in {
			i++
			continue
		}
		for m.elements[e].parent != in {
			e = m.elements[e].parent
		}
		if m.steps++; m.steps > stepsMax {
			return true
		}
		inside := m.within(first, e)
		i = inside.to
		if !slices.ContainsFunc(m.order[inside.from:inside.to], func(n int32) bool { return m.notes[n].accepted }) {
			continue
		}
		m.views = m.views[:top]
		inside.free = false // it is a value in e that is chosen
		m.views = append(m.views, inside)
		for j := from + 1; j < to; j++ {
			m.views = append(m.views, m.within(m.views[j], e))
		}
		if m.solve(e, top, len(m.views), absences) {
			return true
		}
	}
	return false
}

// within narrows a view to the notes in an element.
func (m *matcher) within(v view, e int32) view {
	notes := m.order[v.from:v.to]
	v.to = v.from + int32(sort.Search(len(notes), func(i int) bool { return notes[i] >= m.elements[e].end }))
	v.from += int32(sort.Search(len(notes), func(i int) bool { return notes[i] >= m.elements[e].first }))
	return v
}

// try says the same as solve where values of one field lie in several arrays, by trying.
func (m *matcher) try(from, to int) bool {
	m.chosen = zeroed(m.chosen, int(m.arrays))
	return m.tryNext(from, to)
}

func (m *matcher) tryNext(at, to int) bool {
	if at == to {
		return true
	}
	v := m.views[at]
	if v.free && m.tryNext(at+1, to) {
		return true
	}
	absent := m.filter.fields[v.field].tests.absent && !v.seen
	for _, i := range m.order[v.from:v.to] {
		if m.steps++; m.steps > stepsMax {
			return true
		}
		n := m.notes[i]
		if !m.allowed(n.in) {
			continue
		}
		absent = false
		if !n.accepted {
			continue
		}
		// The arrays that this choice decides are undone if it leads nowhere.
		decided := 0
		for e := n.in; e != none; e = m.elements[e].parent {
			if m.chosen[m.elements[e].array] == 0 {
				m.chosen[m.elements[e].array] = e + 1
				decided++
			}
		}
		if m.tryNext(at+1, to) {
			return true
		}
		for e := n.in; decided > 0; e = m.elements[e].parent {
			// An array is decided by this choice only if those inside it are.
			m.chosen[m.elements[e].array] = 0
			decided--
		}
	}
	return absent && m.tryNext(at+1, to)
}

// allowed says whether no array was decided otherwise.
func (m *matcher) allowed(e int32) bool {
	for ; e != none; e = m.elements[e].parent {
		if c := m.chosen[m.elements[e].array]; c != 0 && c != e+1 {
			return false
		}
	}
	return true
}
