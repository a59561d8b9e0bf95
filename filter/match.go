package filter

import "slices"

// matcher is the state of one match, in memory that is used again.
//
// A scan returns the offset behind what it read, or a negative number: it is over, and m.decided says whether because the
// answer is yes, or because the document is malformed.
type matcher struct {
	filter  *Filter
	data    []byte
	depth   int
	decided bool
	buf     []byte // of a string that had escapes

	// Of each field: whether a value outside of all arrays of objects was accepted, so that it holds whatever is chosen in
	// those; whether there was any value outside of them; whether one inside was accepted.
	free, seen, inside []bool
	// missing is how many fields of each branch are not free; a branch that cannot hold any more has a huge number.
	missing []int32

	choice
}

// over is what a scan returns that ended.
const over = -1

// never is the number of missing fields of a branch that cannot hold.
const never = 1 << 30

func newMatcher(f *Filter) *matcher {
	return &matcher{
		filter: f, free: make([]bool, len(f.fields)), seen: make([]bool, len(f.fields)), inside: make([]bool, len(f.fields)),
		missing: make([]int32, len(f.branches)),
	}
}

// reset begins anew.
func (m *matcher) reset() {
	clear(m.free)
	clear(m.seen)
	clear(m.inside)
	for i := range m.missing {
		m.missing[i] = int32(len(m.filter.branches[i].fields))
	}
	m.decided, m.depth = false, 0
	m.choice.reset()
}

// holds notes that a field holds whatever else is found, and says whether that decides the match.
func (m *matcher) holds(f int32) bool {
	if m.free[f] {
		return m.decided
	}
	m.free[f] = true
	for _, b := range m.filter.fields[f].branches {
		if m.missing[b]--; m.missing[b] == 0 {
			m.decided = true
		}
	}
	return m.decided
}

// fails notes that a field does not hold whatever else is found.
func (m *matcher) fails(f int32) {
	for _, b := range m.filter.fields[f].branches {
		m.missing[b] = never
	}
}

// text, number and word offer a value to the fields at n. in is the element of an array that it lies in, or none. They say
// whether that decides the match.
func (m *matcher) text(s []byte, n *node, in int32) bool {
	for _, f := range n.fields {
		if m.wanted(f, in) && m.found(f, in, m.filter.fields[f].tests.acceptsString(s)) {
			return true
		}
	}
	return false
}

func (m *matcher) number(text []byte, n *node, in int32) bool {
	for _, f := range n.fields {
		if m.wanted(f, in) && m.found(f, in, m.filter.fields[f].tests.acceptsNumber(text)) {
			return true
		}
	}
	return false
}

func (m *matcher) word(l literal, n *node, in int32) bool {
	for _, f := range n.fields {
		if m.wanted(f, in) && m.found(f, in, m.filter.fields[f].tests.acceptsLiteral(l)) {
			return true
		}
	}
	return false
}

// wanted says whether one more value can matter to a field.
func (m *matcher) wanted(f, in int32) bool {
	return !m.free[f] || in != none && m.filter.absences
}

// found takes note of a value.
func (m *matcher) found(f, in int32, accepted bool) bool {
	if in == none {
		m.seen[f] = true
		return accepted && m.holds(f)
	}
	if accepted || m.filter.fields[f].tests.absent {
		m.note(f, in, accepted)
	}
	if accepted && !m.free[f] {
		m.inside[f] = true
		for _, b := range m.filter.fields[f].branches {
			if m.missing[b] == 1 { // all others hold whatever is chosen
				m.decided = true
			}
		}
	}
	return m.decided
}

// value scans the value at i, which is of node n; nil if no pattern names it or anything in it.
func (m *matcher) value(i int, n *node, in int32) int {
	if n == nil {
		return m.pass(i)
	}
	data := m.data
	if i >= len(data) {
		return over
	}
	switch c := data[i]; c {
	case '"':
		end, plain := stringEnd(data, i+1)
		if end < 0 {
			return over
		}
		if len(n.fields) > 0 && m.text(m.plain(data[i+1:end], plain), n, in) {
			return over
		}
		return end + 1
	case '{':
		return m.object(i+1, n, in)
	case '[':
		return m.array(i+1, n, in)
	case 't':
		return m.literal(i, "true", literalTrue, n, in)
	case 'f':
		return m.literal(i, "false", literalFalse, n, in)
	case 'n':
		return m.literal(i, "null", literalNull, n, in)
	default:
		end := numberEnd(data, i)
		if end < 0 || len(n.fields) > 0 && m.number(data[i:end], n, in) {
			return over
		}
		return end
	}
}

func (m *matcher) literal(i int, word string, l literal, n *node, in int32) int {
	end := wordEnd(m.data, i, word)
	if end < 0 || m.word(l, n, in) {
		return over
	}
	return end
}

// plain returns what a string means; it is valid until the next.
func (m *matcher) plain(raw []byte, plain bool) []byte {
	if plain {
		return raw
	}
	m.buf = unescape(m.buf[:0], raw)
	return m.buf
}

// object scans an object from behind its brace.
func (m *matcher) object(i int, n *node, in int32) int {
	if m.depth++; m.depth > DepthMax {
		return over
	}
	data := m.data
	i = space(data, i)
	if i < len(data) && data[i] == '}' {
		m.depth--
		return i + 1
	}
	for {
		if i >= len(data) || data[i] != '"' {
			return over
		}
		end, plain := stringEnd(data, i+1)
		if end < 0 {
			return over
		}
		child := n.below(m.plain(data[i+1:end], plain))
		if i = space(data, end+1); i >= len(data) || data[i] != ':' {
			return over
		}
		if i = m.value(space(data, i+1), child, in); i < 0 {
			return over
		}
		if i = space(data, i); i >= len(data) {
			return over
		}
		switch data[i] {
		case ',':
			i = space(data, i+1)
		case '}':
			m.depth--
			return i + 1
		default:
			return over
		}
	}
}

// array scans an array from behind its bracket. What lies in its objects and arrays lies in one of its elements; its own
// strings, numbers and words do not.
func (m *matcher) array(i int, n *node, in int32) int {
	if m.depth++; m.depth > DepthMax {
		return over
	}
	data := m.data
	i = space(data, i)
	if i < len(data) && data[i] == ']' {
		m.depth--
		return i + 1
	}
	noted, id := len(m.notes), m.arrays
	m.arrays++
	for {
		if i < len(data) && (data[i] == '{' || data[i] == '[') {
			e := m.enter(in, id)
			if i = m.value(i, n, e); i >= 0 {
				m.leave(e)
			}
		} else {
			i = m.value(i, n, in)
		}
		if i < 0 {
			return over
		}
		if i = space(data, i); i >= len(data) {
			return over
		}
		switch data[i] {
		case ',':
			i = space(data, i+1)
		case ']':
			m.depth--
			if len(m.notes) == noted {
				m.arrays = id
			} else if in == none && m.settled() {
				return over
			}
			return i + 1
		default:
			return over
		}
	}
}

// settled says whether a branch that names no absence holds by what was found so far. It is asked at the end of an array, if
// there is twice as much as when it was asked last, so that all its answers cost no more than the last.
func (m *matcher) settled() bool {
	if len(m.notes) < 2*m.tried {
		return false
	}
	for b := range m.filter.branches {
		if m.filter.branches[b].absences || !m.promising(b) {
			continue
		}
		m.tried = len(m.notes)
		if m.consistent(b) {
			m.decided = true
			return true
		}
	}
	return false
}

// finish decides when everything was seen.
func (m *matcher) finish() bool {
	if m.decided {
		return true
	}
	for b := range m.filter.branches {
		br := &m.filter.branches[b]
		switch {
		case m.missing[b] >= never/2:
		case len(m.notes) == 0:
			if br.absences && !slices.ContainsFunc(br.fields, func(f int32) bool { return !m.free[f] && !m.isAbsent(f) }) {
				return true
			}
		case m.promising(b) && m.consistent(b):
			return true
		}
	}
	return false
}

// isAbsent says whether a field may be absent and no value outside of arrays of objects speaks against it.
func (m *matcher) isAbsent(f int32) bool { return m.filter.fields[f].tests.absent && !m.seen[f] }

// promising says whether each field of a branch has something that could make it hold.
func (m *matcher) promising(b int) bool {
	if m.missing[b] >= never/2 {
		return false
	}
	for _, f := range m.filter.branches[b].fields {
		if !m.free[f] && !m.inside[f] && !m.isAbsent(f) {
			return false
		}
	}
	return true
}
