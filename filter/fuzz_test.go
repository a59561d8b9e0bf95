package filter

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluicehq/sluice/record"
)

// texts returns each branch of a filter as a pattern of its own: what its $or became.
func texts(f *Filter) []string {
	var all []string
	for i := range f.branches {
		var b bytes.Buffer
		b.WriteByte('{')
		for j, n := range f.branches[i].fields {
			if j > 0 {
				b.WriteByte(',')
			}
			b.Write(quotedJSON(f.fields[n].path))
			b.WriteByte(':')
			f.fields[n].tests.source.print(&b)
		}
		b.WriteByte('}')
		all = append(all, b.String())
	}
	return all
}

func quotedJSON(s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return text
}

func (v *value) print(b *bytes.Buffer) {
	switch v.kind {
	case kindNull, kindTrue, kindFalse, kindNumber:
		b.WriteString(v.shown())
		if v.kind == kindNumber {
			b.Truncate(b.Len() - len(v.shown()))
			b.WriteString(v.text)
		}
	case kindString:
		b.Write(quotedJSON(v.text))
	case kindList:
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.print(b)
		}
		b.WriteByte(']')
	case kindObject:
		b.WriteByte('{')
		for i, m := range v.members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quotedJSON(m.name))
			b.WriteByte(':')
			m.value.print(b)
		}
		b.WriteByte('}')
	}
}

// compileAll compiles branches, however many and however long, each alone.
func compileAll(t *testing.T, rules Rules, branches []string) []*Filter {
	var all []*Filter
	for i, text := range branches {
		p := parser{rules: rules, pattern: i + 1, text: text}
		clauses := p.parse()
		if len(p.errs) > 0 {
			t.Fatalf("branch %s does not compile: %v", text, p.errs)
		}
		all = append(all, newFilter(rules, clauses))
	}
	return all
}

func seed(f *testing.F, add func(pattern, event string)) {
	for i, v := range readLines[vector](f, "testdata/vectors.jsonl") {
		if i%7 == 0 || !v.Valid {
			add(v.Pattern, v.Event)
		}
	}
}

// FuzzCompile looks for patterns that crash the compiler, and for errors without a place or a word.
func FuzzCompile(f *testing.F) {
	seed(f, func(pattern, _ string) { f.Add(pattern, true) })
	f.Fuzz(func(t *testing.T, pattern string, anyField bool) {
		_, err := Rules{AnyField: anyField}.Compile(pattern)
		if err == nil {
			return
		}
		for _, e := range err.(Errors) { //nolint:errorlint,forcetypeassert // that is what is tested
			if e.Pattern != 1 || e.Message == "" || e.Column < 0 || e.Column > utf8.RuneCountInString(pattern)+1 || !utf8.ValidString(e.Error()) {
				t.Errorf("error %+v", e)
			}
		}
	})
}

// FuzzMatch looks for documents that crash the matcher, and for records that are matched otherwise than their documents.
func FuzzMatch(f *testing.F) {
	seed(f, func(pattern, event string) { f.Add(pattern, []byte(event)) })
	f.Fuzz(func(t *testing.T, pattern string, event []byte) {
		compiled, err := Rules{AnyField: true}.Compile(pattern)
		if err != nil {
			return
		}
		match, ok := compiled.MatchDocument(event)
		if ok != (json.Valid(event) && utf8.Valid(event) && bytes.HasPrefix(bytes.TrimLeft(event, " \t\r\n"), []byte("{")) && depth(event) <= DepthMax) {
			t.Fatalf("%q is JSON: %v", event, ok)
		}
		if match && !ok {
			t.Fatalf("%q matches", event)
		}
		again, _ := compiled.MatchDocument(event)
		if again != match {
			t.Fatalf("%q: %v, then %v", event, match, again)
		}
		wrapped, err := Rules{Mismatch: MismatchDrop}.Compile(`{"value":` + pattern + `}`)
		if err != nil || !ok {
			return
		}
		if got := wrapped.Match(&record.Record{Value: event}); got != match {
			t.Fatalf("%q: document %v, record %v", event, match, got)
		}
	})
}

func depth(event []byte) int {
	deepest, now, inString, escaped := 0, 0, false, false
	for _, c := range event {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// FuzzAgain compiles a pattern, prints what its branches became, and compiles that: the answers are the same. They are also
// those of a slow model of the language.
func FuzzAgain(f *testing.F) {
	seed(f, func(pattern, event string) { f.Add(pattern, event) })
	f.Fuzz(func(t *testing.T, pattern, event string) {
		rules := Rules{AnyField: true}
		compiled, err := rules.Compile(pattern)
		if err != nil {
			return
		}
		match, ok := compiled.MatchDocument([]byte(event))
		again := false
		branches := texts(compiled)
		for _, b := range compileAll(t, rules, branches) {
			m, _ := b.MatchDocument([]byte(event))
			again = again || m
		}
		if again != match {
			t.Fatalf("%s matches %s: %v; its branches %s: %v", pattern, event, match, strings.Join(branches, " or "), again)
		}
		if !ok {
			return
		}
		if model, sure := modelMatch(compiled, event); sure && model != match {
			t.Fatalf("%s matches %s: %v; the model says %v", pattern, event, match, model)
		}
	})
}
