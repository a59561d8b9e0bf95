package filter

import (
	"strconv"
	"unicode/utf8"

	"github.com/sluicehq/sluice/record"
)

// Match says whether one of the patterns matches a record. A filter without patterns matches everything.
//
// A key or value that is a JSON object or array is matched as that, other text as a string, a missing one as null. The scan
// of JSON ends as soon as the answer is yes: what stands behind that point is not looked at, be it malformed.
func (f *Filter) Match(r *record.Record) bool {
	if len(f.branches) == 0 {
		return true
	}
	m := f.take()
	defer f.put(m)
	var text [2]bool // of key and value, which turned out not to be JSON
	for {
		m.reset()
		yes, odd := m.record(r, text)
		if odd < 0 {
			return yes
		}
		text[odd] = true
	}
}

// record matches a record, of which the key or value counts as text where text says so. It begins anew if it returns the index
// of one that is no JSON.
func (m *matcher) record(r *record.Record, text [2]bool) (yes bool, odd int) {
	if m.filter.of != (metadata{}) && m.metadata(r) {
		return true, -1
	}
	for i, data := range [...][]byte{partKey: r.Key, partValue: r.Value} {
		p := &m.filter.parts[i]
		switch {
		case p.node == nil:
		case data == nil:
			m.word(literalNull, p.node, none)
		case text[i] || !isContainer(data):
			m.plainText(p, data)
		case !m.json(p, data):
			return false, i
		}
		if m.decided {
			return true, -1
		}
	}
	return m.finish(), -1
}

// MatchDocument says whether one of the patterns matches a document, which is what a pattern sees of a record:
// {"value": …}. What is not a JSON object matches nothing; ok tells it from what does not match.
func (f *Filter) MatchDocument(document []byte) (match, ok bool) {
	m := f.take()
	defer f.put(m)
	m.reset()
	m.data = document
	end := m.document()
	switch {
	case end == len(document):
		return m.finish(), true
	case end >= 0 || !m.decided:
		return false, false
	}
	// It is decided, and the rest has still to be JSON.
	m.data, m.depth = document, 0
	if m.skip() != len(document) {
		return false, false
	}
	return true, true
}

func (f *Filter) take() *matcher { return f.scratch.Get().(*matcher) }

// keptMax is how many notes, views and bytes a matcher may have had to be used again.
const keptMax = 64 << 10

func (f *Filter) put(m *matcher) {
	m.data = nil
	if max(cap(m.notes), cap(m.elements), cap(m.views), cap(m.chosen), cap(m.buf)) <= keptMax {
		f.scratch.Put(m)
	}
}

// document scans m.data, which has to be an object, up to the end of the white space behind it.
func (m *matcher) document() int {
	i := space(m.data, 0)
	if i >= len(m.data) || m.data[i] != '{' {
		return over
	}
	if i = m.value(i, m.filter.root, none); i < 0 {
		return over
	}
	return space(m.data, i)
}

// skip does so without matching anything.
func (m *matcher) skip() int {
	i := m.pass(space(m.data, 0))
	if i < 0 {
		return over
	}
	return space(m.data, i)
}

// plainText matches a key or value that is no JSON.
func (m *matcher) plainText(p *part, data []byte) {
	switch {
	case !utf8.Valid(data):
		m.misfit(p.text)
	case m.text(data, p.node, none):
		return
	}
	m.misfit(p.json)
}

// isContainer says whether data begins as an object or array does.
func isContainer(data []byte) bool {
	i := space(data, 0)
	return i < len(data) && (data[i] == '{' || data[i] == '[')
}

// json matches a key or value that begins like JSON, and says whether it is, as far as it had to be read.
func (m *matcher) json(p *part, data []byte) bool {
	m.data, m.depth = data, 0
	if i := m.value(space(data, 0), p.inside, none); !m.decided && (i < 0 || space(data, i) != len(data)) {
		return false
	}
	m.misfit(p.text)
	return true
}

// misfit applies the rule for what does not fit a pattern to fields.
func (m *matcher) misfit(fields []int32) {
	for _, f := range fields {
		if m.filter.rules.Mismatch == MismatchDrop {
			m.fails(f)
		} else {
			m.holds(f)
		}
	}
}

// metadata matches what is neither key nor value, and says whether that decides the match.
func (m *matcher) metadata(r *record.Record) bool {
	of := &m.filter.of
	if of.topic != nil {
		m.buf = append(m.buf[:0], r.Topic...)
		if m.text(m.buf, of.topic, none) {
			return true
		}
	}
	if n := of.partition; n != nil && m.integer(int64(r.Partition), n) {
		return true
	}
	if n := of.offset; n != nil && m.integer(r.Offset, n) {
		return true
	}
	if n := of.timestamp; n != nil && m.integer(r.Timestamp.UnixMilli(), n) {
		return true
	}
	if of.timestampType != nil {
		m.buf = append(m.buf[:0], timestampType(r)...)
		if m.text(m.buf, of.timestampType, none) {
			return true
		}
	}
	return of.headers != nil && m.headers(r, of.headers)
}

func (m *matcher) integer(v int64, n *node) bool {
	m.buf = strconv.AppendInt(m.buf[:0], v, 10)
	return m.number(m.buf, n, none)
}

// headers matches the values of headers as text, a missing one as null.
func (m *matcher) headers(r *record.Record, n *node) bool {
	for i := range r.Headers {
		m.buf = append(m.buf[:0], r.Headers[i].Key...)
		h := n.below(m.buf)
		switch v := r.Headers[i].Value; {
		case h == nil:
		case v == nil:
			m.word(literalNull, h, none)
		case utf8.Valid(v):
			m.text(v, h, none)
		case m.filter.rules.Mismatch == MismatchDrop:
			for _, f := range h.fields {
				m.seen[f] = true // it is there, and no test accepts it; another header of its name may be accepted
			}
		default:
			m.misfit(h.fields)
		}
	}
	return m.decided
}

// timestampType is Kafka's word for who stamped a record. One of the old message format 0 has none: CREATE_TIME, as in the event.
func timestampType(r *record.Record) string {
	if r.Attrs.TimestampType() == 1 {
		return "LOG_APPEND_TIME"
	}
	return "CREATE_TIME"
}
