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
	tried    int   // how many notes there were when settled tried a branch last
	sorted   int   // how many when they were brought into order last

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
	depth, jump   int32 // how many elements it lies in, with itself; one of those, for a short way up (below)
}

// view is a field with those of its notes that lie in the elements chosen so far.
type view struct {
	field, from, to int32 // of order
	free, seen      bool  // an accepted value, any value, that no further choice excludes
	array           int32 // that the other values lie in, none if there are none, mixed if they lie in several
}

const mixed = -2

// stepsMax bounds the work of choosing: elements and values that are tried, and what is looked at for each of them. Only
// documents that were made for it need more. Beyond it the branch counts as holding: the function gets a record that it might
// not have got, and none is lost.
const stepsMax = 1 << 22

func (c *choice) reset() {
	c.notes, c.elements, c.views = c.notes[:0], c.elements[:0], c.views[:0]
	c.arrays, c.tried, c.sorted, c.steps = 0, 0, 0, 0
}

// enter begins an element of an array.
func (c *choice) enter(parent, array int32) int32 {
	e := element{parent: parent, array: array, first: int32(len(c.notes)), depth: 1, jump: none}
	if parent != none {
		p := &c.elements[parent]
		e.depth, e.jump = p.depth+1, parent
		if far := c.jump(p.jump); p.depth-c.depth(p.jump) == c.depth(p.jump)-c.depth(far) {
			e.jump = far
		}
	}
	c.elements = append(c.elements, e)
	return int32(len(c.elements) - 1)
}

func (c *choice) depth(e int32) int32 {
	if e == none {
		return 0
	}
	return c.elements[e].depth
}

func (c *choice) jump(e int32) int32 {
	if e == none {
		return none
	}
	return c.elements[e].jump
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
	c.sorted = len(c.notes)
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

// consistent says whether a branch holds by what was noted.
func (m *matcher) consistent(b int) bool {
	if m.sorted != len(m.notes) {
		m.sort(len(m.filter.fields))
	}
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
	if m.steps > stepsMax {
		return true
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

// look brings a view up to date for the element in. Elements inside it are looked at as a whole, not value by value: nested
// deeply, each value would be looked at once for each level.
func (m *matcher) look(v *view, in int32) {
	v.array = none
	for i := v.from; i < v.to; {
		m.steps++
		n := &m.notes[m.order[i]]
		if n.in == in {
			v.seen, v.free = true, v.free || n.accepted
			i++
			continue
		}
		e := m.below(n.in, in)
		switch array := m.elements[e].array; v.array {
		case none:
			v.array = array
		case array:
		default:
			v.array = mixed
			return
		}
		i = m.within(*v, e).to
	}
}

// below is the outermost element that holds the element e, or is it, inside the element in. Jumps make the way up that of a
// logarithm: documents nest deeply where they were made to.
func (m *matcher) below(e, in int32) int32 {
	depth := m.choice.depth(in) + 1
	for m.elements[e].depth > depth {
		if jump := m.elements[e].jump; m.choice.depth(jump) >= depth {
			e = jump
		} else {
			e = m.elements[e].parent
		}
	}
	return e
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
		e = m.below(e, in)
		if m.steps++; m.steps > stepsMax {
			return true
		}
		inside := m.within(first, e)
		i = inside.to
		if !m.acceptedIn(inside) {
			continue
		}
		m.views = m.views[:top]
		inside.free = false // it is a value in e that is chosen
		m.views = append(m.views, inside)
		if m.narrow(e, from+1, to) && m.solve(e, top, len(m.views), absences) {
			return true
		}
	}
	return false
}

// acceptedIn says whether one of a view's values was accepted.
func (m *matcher) acceptedIn(v view) bool {
	for _, i := range m.order[v.from:v.to] {
		m.steps++
		if m.notes[i].accepted {
			return true
		}
	}
	return false
}

// narrow pushes views[from:to] narrowed to an element, until one of them cannot hold for want of any value there.
func (m *matcher) narrow(e int32, from, to int) bool {
	for i := from; i < to; i++ {
		m.steps++
		v := m.within(m.views[i], e)
		if v.from == v.to && !m.settles(&v) {
			return false
		}
		m.views = append(m.views, v)
	}
	return true
}

// within narrows a view to the notes in an element.
func (m *matcher) within(v view, e int32) view {
	notes := m.order[v.from:v.to]
	v.to = v.from + int32(sort.Search(len(notes), func(i int) bool { return notes[i] >= m.elements[e].end }))
	v.from += int32(sort.Search(len(notes), func(i int) bool { return notes[i] >= m.elements[e].first }))
	return v
}

// try says the same as solve where values of one field lie in several arrays, by trying. It leaves chosen as it found it, all
// zero: clearing it each time would cost the document's size for each of its elements.
func (m *matcher) try(from, to int) bool {
	if more := int(m.arrays) - len(m.chosen); more > 0 {
		m.chosen = append(m.chosen, make([]int32, more)...)
	}
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
		n := &m.notes[i]
		if !m.allowed(n.in) {
			continue
		}
		absent = false
		if !n.accepted {
			continue
		}
		decided := 0
		for e := n.in; e != none; e = m.elements[e].parent {
			if m.chosen[m.elements[e].array] == 0 {
				m.chosen[m.elements[e].array] = e + 1
				decided++
			}
		}
		holds := m.tryNext(at+1, to)
		for e := n.in; decided > 0; e = m.elements[e].parent {
			// An array is decided by this choice only if those inside it are.
			m.chosen[m.elements[e].array] = 0
			decided--
		}
		if holds {
			return true
		}
	}
	return absent && m.tryNext(at+1, to)
}

// allowed says whether no array was decided otherwise.
func (m *matcher) allowed(e int32) bool {
	for ; e != none; e = m.elements[e].parent {
		m.steps++
		if c := m.chosen[m.elements[e].array]; c != 0 && c != e+1 {
			return false
		}
	}
	return true
}
