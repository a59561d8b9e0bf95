package filter

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// speed are the scenarios of testdata/speed, with how many of the 256 events match.
var speed = []struct {
	name  string
	match int
}{
	{"exact", 81}, {"prefix-numeric", 114}, {"wildcard-but", 217}, {"prefix-only", 118}, {"wildcard-but-plain", 201},
}

func speedInput(tb testing.TB, name string) (*Filter, [][]byte) {
	tb.Helper()
	text, err := os.ReadFile("testdata/speed/patterns.json")
	if err != nil {
		tb.Fatal(err)
	}
	var scenarios map[string][]json.RawMessage
	if err := json.Unmarshal(text, &scenarios); err != nil {
		tb.Fatal(err)
	}
	var patterns []string
	for _, p := range scenarios[name] {
		patterns = append(patterns, string(p))
	}
	f, err := Compile(patterns...)
	if err != nil {
		tb.Fatal(err)
	}
	events, err := os.ReadFile("testdata/speed/events.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	return f, bytes.Split(bytes.TrimSpace(events), []byte("\n"))
}

func TestTheSpeedScenariosMatchAsTheReferenceDoes(t *testing.T) {
	for _, s := range speed {
		f, events := speedInput(t, s.name)
		n := 0
		for _, e := range events {
			match, ok := f.MatchDocument(e)
			if !ok {
				t.Fatalf("no JSON: %s", e)
			}
			if match {
				n++
			}
		}
		if n != s.match {
			t.Errorf("%s: %d of %d match, should be %d", s.name, n, len(events), s.match)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, s := range speed {
		b.Run(s.name, func(b *testing.B) {
			f, events := speedInput(b, s.name)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				f.early(events[i])
				if i++; i == len(events) {
					i = 0
				}
			}
		})
	}
}

// early is MatchDocument as a mapping matches its values: what stands behind the decision is not looked at.
func (f *Filter) early(document []byte) bool {
	m := f.take()
	defer f.put(m)
	m.reset()
	m.data = document
	return m.document() == len(document) && m.finish() || m.decided
}
