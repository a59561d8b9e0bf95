package filter

import (
	"encoding/json"
	"strings"
)

// The model decides a branch as the specification tells it: all occurrences are listed, and choices are tried one after the
// other in the order of the paths. It shares the tests of values with what it is compared with, and nothing else.

type occurrence struct {
	path     string
	value    any // string, json.Number, bool or nil
	elements map[int]int
}

// modelMax bounds the choices that the model tries; beyond it is not sure.
const modelMax = 20000

func modelMatch(f *Filter, event string) (match, sure bool) {
	m := model{filter: f}
	d := json.NewDecoder(strings.NewReader(event))
	d.UseNumber()
	token, err := d.Token()
	if err != nil || token != json.Delim('{') {
		return false, false
	}
	m.object(d, nil, map[int]int{})
	for i := range f.branches {
		if m.choose(f.branches[i].fields, map[int]int{}) {
			return true, m.steps <= modelMax
		}
	}
	return false, m.steps <= modelMax
}

type model struct {
	filter      *Filter
	occurrences []occurrence
	arrays      int
	steps       int
}

func (m *model) object(d *json.Decoder, path []string, in map[int]int) {
	for {
		token, err := d.Token()
		if err != nil {
			panic(err)
		}
		if token == json.Delim('}') {
			return
		}
		name := token.(string)
		m.value(d, append(path[:len(path):len(path)], name), in)
	}
}

func (m *model) value(d *json.Decoder, path []string, in map[int]int) {
	token, err := d.Token()
	if err != nil {
		panic(err)
	}
	m.token(d, token, path, in)
}

func (m *model) token(d *json.Decoder, token json.Token, path []string, in map[int]int) {
	switch token {
	case json.Delim('{'):
		m.object(d, path, in)
	case json.Delim('['):
		array := m.arrays
		m.arrays++
		for i := 0; ; i++ {
			token, err := d.Token()
			if err != nil {
				panic(err)
			}
			if token == json.Delim(']') {
				return
			}
			inside := in
			if _, nested := token.(json.Delim); nested {
				inside = map[int]int{array: i}
				for a, e := range in {
					inside[a] = e
				}
			}
			m.token(d, token, path, inside)
		}
	default:
		m.occurrences = append(m.occurrences, occurrence{strings.Join(path, "."), token, in})
	}
}

func (m *model) choose(fields []int32, chosen map[int]int) bool {
	if len(fields) == 0 {
		return true
	}
	if m.steps++; m.steps > modelMax {
		return false
	}
	f := &m.filter.fields[fields[0]]
	absent := f.tests.absent
	for _, o := range m.occurrences {
		if o.path != f.path || !agree(o.elements, chosen) {
			continue
		}
		absent = false
		if !accepts(f.tests, o.value) {
			continue
		}
		with := map[int]int{}
		for _, more := range []map[int]int{chosen, o.elements} {
			for a, e := range more {
				with[a] = e
			}
		}
		if m.choose(fields[1:], with) {
			return true
		}
	}
	return absent && m.choose(fields[1:], chosen)
}

func agree(a, b map[int]int) bool {
	for array, e := range a {
		if other, ok := b[array]; ok && other != e {
			return false
		}
	}
	return true
}

func accepts(t *tests, v any) bool {
	switch v := v.(type) {
	case string:
		return t.acceptsString([]byte(v))
	case json.Number:
		return t.acceptsNumber([]byte(v))
	case bool:
		if v {
			return t.acceptsLiteral(literalTrue)
		}
		return t.acceptsLiteral(literalFalse)
	default:
		return t.acceptsLiteral(literalNull)
	}
}
