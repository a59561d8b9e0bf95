package filter

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"testing"
)

// vector is a line of testdata/vectors.jsonl; its README says where they come from.
type vector struct {
	ID, Pattern, Event string
	Valid, Match       bool
	Error              string
}

// otherwise lists the vectors that pin accidents of the reference which we do not imitate, with the reason and with what we
// answer instead.
var otherwise = map[string]struct {
	valid, match bool
	why          string
}{
	"q-or-legacy/01a": {false, false, orLegacy},
	"q-or-legacy/01b": {false, false, orLegacy},
	"q-or-legacy/03a": {false, false, orLegacy},
	"q-or-legacy/03b": {false, false, orLegacy},
	"q-or-legacy/05a": {false, false, orLegacy},
	"q-or-legacy/05b": {false, false, orLegacy},
	"q-or-legacy/06a": {false, false, orLegacy},
	"q-or-legacy/06b": {false, false, orLegacy},

	"q-ip-family/01a": {true, false, ipFamily},
	"q-ip-family/01b": {true, false, ipFamily},
	"q-ip-family/03a": {true, false, ipFamily},
	"q-ip-family/05a": {true, false, ipFamily},
	"q-ip-family/05b": {true, false, ipFamily},
	"q-ip-family/05c": {true, false, ipFamily},
	"q-ip-family/06a": {true, false, ipFamily},

	"q-empty-key/03a": {true, true, "an empty name is a step of the path like any other"},

	"q-astral-fold/01a": {true, true, astral},
	"q-astral-fold/01b": {true, false, astral},
	"q-astral-fold/01c": {true, true, astral},
	"q-astral-fold/03a": {true, true, astral},
	"q-astral-fold/03b": {true, false, astral},
	"q-astral-fold/05a": {true, false, astral},
	"q-astral-fold/05b": {true, true, astral},

	"q-quote/01a": {true, false, quote},
	"q-quote/03a": {true, true, quote},
	"q-quote/05a": {true, false, quote},

	"q-surrogate/01b": {true, true, surrogate},
	"q-surrogate/03b": {true, false, surrogate},
	"q-surrogate/05b": {true, false, surrogate},

	"q-trailing/01a": {true, false, trailingEvent},
	"q-trailing/01b": {true, false, trailingEvent},
	"q-trailing/01c": {true, false, trailingEvent},
	"q-trailing/03a": {false, false, "text behind a pattern is refused"},
	"q-trailing/03b": {false, false, "text behind a pattern is refused"},
	"q-trailing/05a": {true, false, trailingEvent},
	"q-trailing/05b": {true, false, trailingEvent},
}

const (
	orLegacy      = "a $or that is none is refused: nobody means a field of that name"
	ipFamily      = "a block of IPv4 holds no IPv6 address and no number, and the other way round"
	astral        = "a character beyond the BMP accepts itself, and no question marks"
	quote         = "strings are matched without their quotes"
	surrogate     = "half of a surrogate pair is U+FFFD throughout"
	trailingEvent = "what has text behind it is no JSON"
)

func readLines[T any](tb testing.TB, name string) []T {
	tb.Helper()
	file, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	var all []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			tb.Fatalf("%s:%d: %v", name, len(all)+1, err)
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

// TestVectors holds the language against the answers of the reference.
func TestVectors(t *testing.T) {
	vectors := readLines[vector](t, "testdata/vectors.jsonl")
	if len(vectors) < 3000 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	used := 0
	for _, v := range vectors {
		valid, match := v.Valid, v.Match
		if o, ok := otherwise[v.ID]; ok {
			used++
			if o.valid == valid && o.match == match {
				t.Errorf("%s is listed as otherwise, and is not", v.ID)
			}
			valid, match = o.valid, o.match
		}
		f, err := Rules{AnyField: true}.Compile(v.Pattern)
		if (err == nil) != valid {
			t.Errorf("%s: pattern %s: error %v, valid %v (%s)", v.ID, v.Pattern, err, valid, v.Error)
			continue
		}
		if err != nil {
			var errs Errors
			if !errors.As(err, &errs) || len(errs) == 0 {
				t.Errorf("%s: the error is %T %v", v.ID, err, err)
			}
			continue
		}
		if got, _ := f.MatchDocument([]byte(v.Event)); got != match {
			t.Errorf("%s: pattern %s, event %s: %v, should be %v", v.ID, v.Pattern, v.Event, got, match)
		}
	}
	if used != len(otherwise) {
		t.Errorf("%d of the %d vectors that are listed as otherwise exist", used, len(otherwise))
	}
}
