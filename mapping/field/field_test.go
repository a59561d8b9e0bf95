package field

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// text, number, list and object make nodes; object takes keys and values in turn.
func text(s string) *Node   { return &Node{Kind: Text, Text: s} }
func number(s string) *Node { return &Node{Kind: Integer, Text: s} }

func list(items ...*Node) *Node { return &Node{Kind: Sequence, Items: items} }

func dict(pairs ...any) *Node {
	n := &Node{Kind: Dictionary}
	for i := 0; i < len(pairs); i += 2 {
		n.Members = append(n.Members, Member{Key: pairs[i].(string), Value: pairs[i+1].(*Node)})
	}
	return n
}

func TestNearest(t *testing.T) {
	known := []string{"batchSize", "topics", "cluster", "retry", "retryMode", "tls"}
	cases := map[string]string{
		"batchSise": "batchSize", "BatchSize": "batchSize", "batch_size": "batchSize", "topic": "topics", "clutser": "cluster", "retrie": "retry",
		"tsl": "", "tl": "tls", "zookeeper": "", "": "", "x": "", strings.Repeat("batchSize", 10): "",
	}
	for word, want := range cases {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := Nearest("b", []string{"c", "a"}); got != "a" {
		t.Errorf("of equally near ones the first in order is taken: got %q", got)
	}
}

func TestConditions(t *testing.T) {
	scope := dict("mode", text("Queue"), "empty", text(""), "none", list(), "some", list(text("a")), "in", dict("side", text("x")), "null", &Node{})
	cases := []struct {
		name string
		cond Cond
		want bool
	}{
		{"a value is one of them", Is("mode", "Stream", "Queue"), true},
		{"a value is none of them", Is("mode", "Stream"), false},
		{"a missing value is none of them", Is("absent", "Stream"), false},
		{"the opposite of a missing value holds", IsNot("absent", "Stream"), true},
		{"a value that is there", Has("some"), true},
		{"an empty text is not there", Has("empty"), false},
		{"an empty list is not there", Has("none"), false},
		{"null is not there", Has("null"), false},
		{"a value within another", Is("in.side", "x"), true},
		{"a missing value within another", HasNot("in.out"), true},
		{"a path through a text", HasNot("mode.side"), true},
	}
	for _, c := range cases {
		if got := c.cond.Holds(scope); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestJSONKeepsOrderAndNumbers(t *testing.T) {
	n := dict("b", list(number("1"), &Node{Kind: Float, Text: "1.50"}, &Node{Kind: Float, Text: "1_0.5"}), "a", dict("<", &Node{Kind: Boolean, Text: "true"}, "n", &Node{}))
	want := `{"b":[1,1.50,10.5],"a":{"<":true,"n":null}}`
	if got, err := n.JSON(); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	for _, bad := range []string{".inf", ".nan", "-.Inf"} {
		if got, err := list(&Node{Kind: Float, Text: bad}).JSON(); err == nil {
			t.Errorf("%s: got %s, want an error", bad, got)
		}
	}
}

func TestWhatAnErrorShowsOfAValue(t *testing.T) {
	long := strings.Repeat("ä", shownMax+1)
	cases := map[string]*Node{
		`"a b"`:   text("a b"),
		"5":       number("5"),
		"${NAME}": {Kind: Text, Text: "hush", Reference: "${NAME}"},
		"a list":  list(text("a")),
		"nothing": {},
		`"` + strings.Repeat("ä", shownMax) + `…"`: text(long),
	}
	for want, n := range cases {
		if got := n.Shown(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

var sample = Type{
	Kind: KindObject, Scope: true,
	Fields: []Field{
		{Name: "count", Type: Int(1, 10, -1), Default: int64(5), Cases: []DefaultCase{{When: Has("fast"), Value: int64(9)}}},
		{Name: "fast", Type: Switch()},
		{Name: "size", Type: Type{Kind: KindSize, Min: 1, Max: 1 << 20}},
		{Name: "wait", Type: Type{Kind: KindDuration, Min: 0, Max: int64(time.Hour)}, Default: time.Second},
		{Name: "at", Type: Type{Kind: KindTime}},
		{Name: "key", Type: Type{Kind: KindString, Min: 1, Max: 8, Secret: true, Pattern: compile(`^[a-z]+$`)}},
		{Name: "labels", Type: Map(String(0, 3, "", ""), 2, `^[a-z]$`, "one letter")},
	},
}

func TestReadTakesValuesFromOutsideAsTheFieldWantsThem(t *testing.T) {
	outside := func(s string) *Node { return &Node{Kind: Text, Text: s, Reference: "${X}"} }
	scope := dict("count", outside(" 7 "), "fast", outside("on"), "size", outside("2KB"), "wait", outside("3s"), "at", outside("5"), "key", outside("abc"))
	if problems := Check(&sample, scope, "", Context{}); problems != nil {
		t.Fatal(problems)
	}
	if Read[int64](&sample, scope, "count") != 7 || !Read[bool](&sample, scope, "fast") || Read[int64](&sample, scope, "size") != 2000 ||
		Read[time.Duration](&sample, scope, "wait") != 3*time.Second || Read[time.Time](&sample, scope, "at").Unix() != 5 || Read[string](&sample, scope, "key") != "abc" {
		t.Error("a value is not what stood outside")
	}
}

func TestReadTakesDefaults(t *testing.T) {
	if got := Read[int64](&sample, dict(), "count"); got != 5 {
		t.Errorf("got %d, want the default", got)
	}
	if got := Read[int64](&sample, dict("fast", text("off")), "count"); got != 9 {
		t.Errorf("got %d, want the default of the case", got)
	}
}

func TestReadPanicsOnMistakesOfTheProgram(t *testing.T) {
	for name, read := range map[string]func(){
		"a path that the table does not know": func() { Read[int64](&sample, dict(), "no") },
		"a wrong type":                        func() { Read[string](&sample, dict(), "count") },
		"no default":                          func() { Read[time.Time](&sample, dict(), "at") },
		"a value that was not checked":        func() { Read[int64](&sample, dict("count", number("99")), "count") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			read()
		}()
	}
}

func TestNumbersAtTheirBorders(t *testing.T) {
	float := func(s string) *Node { return &Node{Kind: Float, Text: s} }
	cases := map[*Node]string{
		number("1"): "", number("10"): "", number("-1"): "", float("10.0"): "", float("1e1"): "",
		number("0"): "0 is not allowed; allowed: -1 or 1 to 10", number("11"): "11 is not allowed; allowed: -1 or 1 to 10",
		number("99999999999999999999"): "99999999999999999999 is not allowed; allowed: -1 or 1 to 10",
		float("1.5"):                   "1.5 is not a whole number; allowed: -1 or 1 to 10",
		float(".inf"):                  ".inf is not a whole number; allowed: -1 or 1 to 10",
		text("5"):                      `"5" is not a whole number; allowed: -1 or 1 to 10; write it without quotes`,
		{Kind: Boolean, Text: "true"}:  "true is not a whole number; allowed: -1 or 1 to 10",
	}
	for n, want := range cases {
		problems := Check(&sample, dict("count", n), "", Context{})
		if want == "" && problems != nil || want != "" && (len(problems) != 1 || problems[0].String() != "count: "+want) {
			t.Errorf("%s: got %v, want %q", n.Text, problems, want)
		}
	}
}

func TestCheckSaysAllAtOnceAndNothingOfBrokenValues(t *testing.T) {
	scope := dict("count", &Node{Kind: Broken}, "fast", text("maybe"), "key", text("ABC"), "labels", dict("ab", text("long"), "c", number("1"), "d", text("")), "cont", text(""))
	var got []string
	for _, p := range Check(&sample, scope, "x", Context{}) {
		got = append(got, p.String())
	}
	want := []string{
		`x.fast: "maybe" is not on or off`,
		"x.key: the value is not text of 1 to 8 characters",
		"x.labels: has 3 entries; allowed: 0 to 2 entries",
		"x.labels.ab: the name is not allowed; allowed: one letter",
		`x.labels.ab: "long" is longer than 3 characters; allowed: text of 0 to 3 characters`,
		"x.labels.c: 1 is a whole number, not text; allowed: text of 0 to 3 characters; write it in quotes",
		"x.cont: unknown key; did you mean count?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
