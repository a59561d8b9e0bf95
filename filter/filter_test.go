package filter

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

func compile(tb testing.TB, patterns ...string) *Filter {
	tb.Helper()
	f, err := Compile(patterns...)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// Errors name the pattern, the path, the column and what is allowed, and come all at once.
func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		patterns []string
		want     string
	}{
		{[]string{`{"value":{"a":["x"]}`}, `pattern 1, column 21: the pattern is not JSON: unexpected end of JSON input`},
		{[]string{`{"value":{"é":[1],"b":[{"prefix":1}]}}`}, `pattern 1, $.value.b[0].prefix, column 34: prefix has 1; allowed: a string, or {"equals-ignore-case": a string}`},
		{[]string{`{"value":{"a":"x"}}`}, `pattern 1, $.value.a, column 15: "x" is no list of tests; allowed: a list such as ["x"], or an object of fields`},
		{
			[]string{`{"value":{"a":["x"]}}`, `{"value":{"a":[]},"b c":["x"]}`},
			`pattern 2, $.value.a, column 15: the list is empty; allowed: at least one test` + "\n" +
				`pattern 2, $["b c"], column 19: a record has no field "b c"; allowed: value, key, topic, partition, offset, timestamp, timestampType, headers; fields of its JSON stand under value`,
		},
		{[]string{`{"detail":{"a":{"b":["x"]}}}`}, `pattern 1, $.detail, column 2: a record has no field "detail"; allowed: `},
		{[]string{`{"value":{"a":{"prefix":"x"}}}`}, `pattern 1, $.value.a, column 16: the operator prefix stands outside of a list of tests; allowed: a list such as [{"prefix": "x"}]`},
		{[]string{`{"value":{"$or":[{"a":[1]}]}}`}, `pattern 1, $.value.$or, column 17: $or has a list of 1; allowed: a list of at least two objects`},
		{[]string{`{"headers":["x"]}`}, `pattern 1, $.headers, column 2: headers has a list of tests; allowed: an object with the names of headers`},
		{[]string{`{"topic":{"x":["x"]}}`}, `pattern 1, $.topic.x, column 11: topic has no field "x"; allowed: a list of tests`},
		{[]string{`{"value":{"a":[{"between":[1,2]}]}}`}, `pattern 1, $.value.a[0].between, column 17: "between" is no operator; allowed: ` + operatorNames},
		{[]string{`{"value":{"a":[{"numeric":["=>",1]}]}}`}, `pattern 1, $.value.a[0].numeric[0], column 28: "=>" is no comparison; ` + numericAllowed},
		{[]string{`{"value":{"$or":[{"a":[1]},{"prefix":[1]}]}}`}, `pattern 1, $.value.$or[1].prefix, column 29: "prefix" is the name of an operator, which a field inside $or may not have`},
		{[]string{"{}", "{}", "{}", "{}", "{}", "{}"}, `pattern 6: there are 6 patterns; allowed: up to 5`},
		{[]string{`{"value":{"` + strings.Repeat("é", PatternCharsMax) + `":["x"]}}`}, `pattern 1: the pattern has 4116 characters; allowed: up to 4096`},
		{[]string{"{\"value\":{\"\xff\":[1]}}"}, `pattern 1: the pattern is not UTF-8`},
		{[]string{manyOrs(11)}, `pattern 1, $.$or[0].value.$or[0].value.$or`},
	} {
		_, err := Compile(tc.patterns...)
		if err == nil || !strings.HasPrefix(err.Error(), strings.Split(tc.want, "$.$or")[0]) {
			t.Errorf("%q:\n got %v\nwant %s", tc.patterns, err, tc.want)
		}
	}
}

// manyOrs is a pattern with n $or of two alternatives beside each other.
func manyOrs(n int) string {
	var b strings.Builder
	b.WriteString(`{"value":{"x":["x"]`)
	for i := range n {
		fmt.Fprintf(&b, `,"f%d":{"$or":[{"a":[1]},{"b":[2]}]}`, i)
	}
	return b.String() + "}}"
}

func TestAlternativesAreBounded(t *testing.T) {
	if f := compile(t, manyOrs(9)); len(f.branches) != 512 {
		t.Errorf("%d branches", len(f.branches))
	}
	half := strings.TrimPrefix(manyOrs(9), `{"value":`) // 512, with a brace to close
	for name, pattern := range map[string]string{
		"beside each other": manyOrs(60),
		"inside each other": `{"value":{"$or":[` + half[:len(half)-1] + `,` + half[:len(half)-1] + `]}}`,
	} {
		_, err := Compile(pattern)
		if err == nil || !strings.Contains(err.Error(), "more than 1000 alternatives; allowed: up to 1000") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStrictRefusesWhatLambdasTableLeavesOut(t *testing.T) {
	for pattern, want := range map[string]string{
		`{"value":{"a":[{"wildcard":"*"}]}}`:                      "wildcard",
		`{"value":{"a":[{"cidr":"10.0.0.0/8"}]}}`:                 "cidr",
		`{"value":{"a":[{"exactly":"x"}]}}`:                       "exactly",
		`{"value":{"a":[{"prefix":{"equals-ignore-case":"x"}}]}}`: "prefix of equals-ignore-case",
		`{"value":{"a":[{"anything-but":{"prefix":"x"}}]}}`:       "anything-but of prefix",
		`{"key":["x"]}`: "not by key",
		`{"value":{"a":["x",{"anything-but":["y"]},{"numeric":["=",1]}]}}`: "",
	} {
		_, err := Rules{Strict: true}.Compile(pattern)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", pattern, err)
		}
		if _, err := Compile(pattern); err != nil {
			t.Errorf("%s without strict: %v", pattern, err)
		}
	}
}

// What the reference gets wrong by chance or always is right here (docs/FILTERS.md, last table).
func TestDefectsOfTheReferenceAreNotCopied(t *testing.T) {
	for _, tc := range []struct {
		pattern, event string
		want           bool
	}{
		{`{"a":["red",{"numeric":["<",10]},"green"]}`, `{"a":"red"}`, true},
		{`{"a":[{"wildcard":"*.png"},{"equals-ignore-case":"logo"}]}`, `{"a":"xogo"}`, false},
		{`{"a":{"b":[1],"c":[3]}}`, `{"a":[{"b":1},{"c":2}],"a.c":3}`, true},
	} {
		f, err := Rules{AnyField: true}.Compile(tc.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if match, _ := f.MatchDocument([]byte(tc.event)); match != tc.want {
			t.Errorf("%s, %s: %v", tc.pattern, tc.event, match)
		}
	}
}

func TestRecords(t *testing.T) {
	r := &record.Record{
		Topic: "orders", Partition: 3, Offset: 1234567890123, Timestamp: time.UnixMilli(1764460800000),
		Key: []byte("k-1"), Value: []byte(`{"a":"x","b":[1,2]}`),
		Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "h", Value: []byte("2")}, {Key: "n"}, {Key: "a.b", Value: []byte("\xff")}},
	}
	for pattern, want := range map[string]bool{
		`{"topic":["orders"],"partition":[3],"offset":[{"numeric":[">",1e12]}]}`: true,
		`{"timestamp":[1764460800000],"timestampType":["CREATE_TIME"]}`:          true,
		`{"timestamp":[{"numeric":["<",1764460800000]}]}`:                        false,
		`{"headers":{"h":["2"]}}`:                                                true,
		`{"headers":{"h":["3"]}}`:                                                false,
		`{"headers":{"n":[null]}}`:                                               true,
		`{"headers":{"m":[{"exists":false}]}}`:                                   true,
		`{"headers":{"h":[{"exists":false}]}}`:                                   false,
		`{"headers":{"a":{"b":["x"]}}}`:                                          true, // not UTF-8: passes
		`{"key":[{"prefix":"k-"}],"value":{"a":["x"]}}`:                          true,
		`{"key":[{"prefix":"k-"}],"value":{"a":["y"]}}`:                          false,
		`{"key":{"a":["x"]},"value":{"a":["y"]}}`:                                false,
		`{"key":{"a":["x"]},"value":{"a":["x"]}}`:                                true,
		`{"$or":[{"topic":["x"]},{"value":{"b":[2]}}]}`:                          true,
	} {
		if got := compile(t, pattern).Match(r); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}

// A header that is not UTF-8 is one that nothing accepts; it takes nothing from others of its name, in whatever order they come.
func TestAHeaderThatIsNoTextIsDroppedAlone(t *testing.T) {
	good, bad := kgo.RecordHeader{Key: "h", Value: []byte("a")}, kgo.RecordHeader{Key: "h", Value: []byte("\xff")}
	for _, tc := range []struct {
		pattern string
		headers []kgo.RecordHeader
		want    bool
	}{
		{`{"headers":{"h":["a"]},"value":["v"]}`, []kgo.RecordHeader{good, bad}, true},
		{`{"headers":{"h":["a"]},"value":["v"]}`, []kgo.RecordHeader{bad, good}, true},
		{`{"headers":{"h":["a"]}}`, []kgo.RecordHeader{bad, good}, true},
		{`{"headers":{"h":["a"]}}`, []kgo.RecordHeader{bad}, false},
		{`{"headers":{"h":[{"exists":true}]}}`, []kgo.RecordHeader{bad}, false},
		{`{"headers":{"h":[{"exists":false}]}}`, []kgo.RecordHeader{bad}, false},
	} {
		f, err := Rules{Mismatch: MismatchDrop}.Compile(tc.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Match(&record.Record{Value: []byte("v"), Headers: tc.headers}); got != tc.want {
			t.Errorf("%s, %q: %v", tc.pattern, tc.headers, got)
		}
	}
}

func TestNoPatternsMatchEverything(t *testing.T) {
	if !compile(t).Match(&record.Record{}) {
		t.Error("no match")
	}
}

func TestAMatchAllocatesNothing(t *testing.T) {
	f := compile(t,
		`{"value":{"items":{"sku":["A",{"prefix":"\u0041b"}],"qty":[{"numeric":[">",1e3]},12345678901234567890123]},"ip":[{"cidr":"10.0.0.0/8"}]}}`,
		`{"topic":["x"],"headers":{"a":["b"]},"offset":[7],"key":["k"],"value":{"note":[{"exists":false}],"s":[{"wildcard":"*a*b*"}]}}`)
	r := &record.Record{
		Topic: "t", Key: []byte("key"), Headers: []kgo.RecordHeader{{Key: "a", Value: []byte("c")}},
		Value: []byte(`{"items":[{"sku":"A","qty":1},{"sku":"\u0041b","qty":999.5e0},{"sku":"B","qty":123456789012345678901234}],"ip":"11.0.0.1","s":"x\ny"}`),
	}
	if f.Match(r) {
		t.Fatal("it matches")
	}
	m := newMatcher(f) // not from the pool, which forgets some under the race detector
	match := func() {
		m.reset()
		if yes, odd := m.record(r, [2]bool{}); yes || odd >= 0 {
			t.Error("another answer")
		}
	}
	match()
	if n := testing.AllocsPerRun(100, match); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAFilterIsSafeFromAnyGoroutine(t *testing.T) {
	f, events := speedInput(t, "exact")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				n := 0
				for _, e := range events {
					if match, _ := f.MatchDocument(e); match {
						n++
					}
				}
				if n != speed[0].match {
					t.Errorf("%d match", n)
				}
			}
		})
	}
	group.Wait()
}

// Hostile documents cost what honest ones of their size do.
func TestHostileDocuments(t *testing.T) {
	// The fields of arrays stand alone: with one beside them that a document lacks, nothing would be chosen.
	f := compile(t, `{"value":{"a":{"b":[1],"c":[2],"d":[3],"e":[{"exists":false}]}}}`,
		`{"value":{"a":{"b":[1],"x":{"c":[2],"d":[3],"e":[1]}}}}`, `{"value":{"s":[{"wildcard":"*a*a*a*a*a*a*a*b"}]}}`)
	elements := strings.Repeat(`{"b":1},{"c":2},`, 100_000)
	for name, tc := range map[string]struct {
		value string
		want  bool
	}{
		"brackets":           {strings.Repeat("[", 10<<20), true},
		"braces":             {strings.Repeat(`{"a":`, 2<<20), true},
		"a long key":         {`{"` + strings.Repeat("a", 1<<20) + `":1}`, false},
		"a long key, no end": {`{"` + strings.Repeat("a", 1<<20), true},
		"a long number":      {`{"a":{"b":` + strings.Repeat("1", 1<<20) + `}}`, false},
		"a long string":      {`{"s":"` + strings.Repeat("a", 1<<20) + `"}`, false},
		"escapes":            {`{"s":"` + strings.Repeat(`\u0061`, 1<<18) + `"}`, false},
		"an array":           {`{"a":[` + elements + `{"d":3}]}`, false},
		"arrays in arrays":   {`{"a":[[` + elements + `{"d":3}],[` + elements + `{"d":3}]]}`, false},
		"far down":           {`{"a":` + strings.Repeat("[", 990) + elements + `{"d":3}` + strings.Repeat("]", 990) + `}`, false},
		"keys again":         {`{"a":[` + strings.Repeat(`{"b":1,"x":[{"c":2},{"d":3}],"x":[{"e":1},{"c":2}]},`, 20_000) + `{"x":{"d":3}}]}`, false},
		"a key again":        {`{` + strings.Repeat(`"a":[{"b":1},{"b":2,"c":2}],`, 30_000) + `"x":1}`, false},
	} {
		began := time.Now()
		if got := f.Match(&record.Record{Value: []byte(tc.value)}); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
		// A tenth of a second each; the race detector and a busy machine make it four. What this is about takes minutes.
		if d := time.Since(began); d > 30*time.Second {
			t.Errorf("%s: %v", name, d)
		}
	}
}

// An answer of yes is known where it is known.
func TestADecidingFieldThatStandsFirstEndsTheScan(t *testing.T) {
	f := compile(t, `{"value":{"type":["order"]}}`)
	rest := `"filler":[` + strings.Repeat(`{"id":12345,"name":"some text of a usual length","ok":true},`, 16_000) + `null]`
	first := &record.Record{Value: []byte(`{"type":"order",` + rest + `}`)}
	last := &record.Record{Value: []byte(`{` + rest + `,"type":"order"}`)}
	cost := func(r *record.Record, n int) time.Duration {
		best := time.Hour
		for range 5 {
			began := time.Now()
			for range n {
				if !f.Match(r) {
					t.Fatal("no match")
				}
			}
			best = min(best, time.Since(began)/time.Duration(n))
		}
		return best
	}
	if a, b := cost(first, 1000), cost(last, 3); a*100 > b {
		t.Errorf("first %v, last %v", a, b)
	}
}
