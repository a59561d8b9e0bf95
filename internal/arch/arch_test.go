package arch

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestTree holds the source tree against every rule.
func TestTree(t *testing.T) {
	tree, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Packages) < 2 {
		t.Fatalf("only %d packages found; is this the module's root?", len(tree.Packages))
	}
	for name, check := range map[string]func(*Tree) []string{
		"directions": Directions,
		"purity":     Purity,
		"documented": Documented,
		"sizes":      Sizes,
	} {
		t.Run(name, func(t *testing.T) {
			for _, complaint := range check(tree) {
				t.Error(complaint)
			}
		})
	}
}

// TestLadder checks the rules themselves: no edge upwards without a reason.
func TestLadder(t *testing.T) {
	for _, complaint := range Ladder() {
		t.Error(complaint)
	}
}

func TestRules(t *testing.T) {
	const doc = "// Package x is documented.\n"
	long := doc + "package x\n" + strings.Repeat("\n", LinesMax)
	cases := []struct {
		name   string
		check  func(*Tree) []string
		file   string
		source string
		want   string // part of the one complaint; "" for none
	}{
		{"a deciding room may import record", Directions, "inflight/a.go", `package x; import "` + Module + `/record"`, ""},
		{"a deciding room may not import a seam", Directions, "inflight/a.go", `package x; import "` + Module + `/invoke"`, "seam stands above"},
		{"failure may import the function seam for its kinds", Directions, "failure/a.go", `package x; import "` + Module + `/invoke"`, ""},
		{"a deciding room may not import another", Directions, "scaling/a.go", `package x; import "` + Module + `/mapping"`, "stands above"},
		{"the poller may not import a leaf", Directions, "poller/a.go", `package x; import "` + Module + `/invoke/httpfn"`, "handed inwards"},
		{"a leaf may not import another leaf", Directions, "invoke/httpfn/a.go", `package x; import "` + Module + `/poller/group"`, "handed inwards"},
		{"cmd may import a leaf", Directions, "cmd/sluice/a.go", `package x; import "` + Module + `/invoke/httpfn"`, ""},
		{"cmd may not import a test package", Directions, "cmd/sluice/a.go", `package x; import "` + Module + `/test/ledger"`, "nothing may depend on tests"},
		{"a test package may import another", Directions, "test/bench/a.go", `package x; import "` + Module + `/test/ledger"`, ""},
		{"a test file may import a test package", Directions, "poller/a_test.go", `package x; import "` + Module + `/test/ledger"`, ""},
		{"a folder below a room belongs to it", Directions, "config/place/a.go", `package x; import "` + Module + `/config"`, ""},
		{"a folder that nobody listed is refused", Directions, "gadgets/a.go", `package x`, "belongs to no room"},
		{"the poller may not import the controller", Directions, "poller/a.go", `package x; import "` + Module + `/controller"`, "stands above"},
		{"an edge that is not listed is refused though it leads down", Directions, "invoke/a.go", `package x; import "` + Module + `/inflight"`, "not among the imports"},

		{"a deciding room may use the types of time", Purity, "inflight/a.go", `package x; import "time"; var d time.Duration`, ""},
		{"a deciding room may not read the clock", Purity, "inflight/a.go", `package x; import "time"; var n = time.Now()`, "uses time.Now"},
		{"a renamed import hides no clock", Purity, "inflight/a.go", `package x; import clock "time"; var n = clock.Now()`, "uses time.Now"},
		{"a deciding room may not open files", Purity, "mapping/a.go", `package x; import _ "os"`, "imports os"},
		{"a deciding room may parse addresses", Purity, "mapping/a.go", `package x; import _ "net/url"`, ""},
		{"a deciding room may not speak HTTP", Purity, "mapping/a.go", `package x; import _ "net/http"`, "imports net/http"},
		{"a deciding room may not draw lots", Purity, "failure/a.go", `package x; import _ "math/rand/v2"`, "imports math/rand/v2"},
		{"a deciding room may not start goroutines", Purity, "scaling/a.go", `package x; func f() { go f() }`, "starts a goroutine"},
		{"a deciding room may not use channels", Purity, "scaling/a.go", `package x; var c chan int`, "uses a channel"},
		{"a deciding room may not take modules of others", Purity, "inflight/a.go", `package x; import _ "github.com/twmb/franz-go/pkg/kgo"`, "not in outsidePurely"},
		{"a module with a reason is allowed", Purity, "mapping/a.go", `package x; import _ "github.com/google/uuid"`, ""},
		{"a leaf below a deciding room may do as it likes", Purity, "scaling/lag/a.go", `package x; import _ "net"`, ""},
		{"a test of a deciding room may use files", Purity, "inflight/a_test.go", `package x; import _ "os"`, ""},

		{"a package needs a comment", Documented, "x/a.go", "package x\n", "no package comment"},
		{"an exported function needs a comment", Documented, "x/a.go", doc + "package x\nfunc F() {}\n", "func F"},
		{"an unexported one does not", Documented, "x/a.go", doc + "package x\nfunc f() {}\n", ""},
		{"a method of an exported type needs a comment", Documented, "x/a.go", doc + "package x\n// T is.\ntype T[A any] int\nfunc (t *T[A]) M() {}\n", "method T.M"},
		{"String explains itself", Documented, "x/a.go", doc + "package x\n// T is.\ntype T int\nfunc (T) String() string { return \"\" }\n", ""},
		{"a type needs a comment", Documented, "x/a.go", doc + "package x\ntype T int\n", "type T"},
		{"a field needs a comment", Documented, "x/a.go", doc + "package x\n// T is.\ntype T struct {\n\tA int\n\n\tB int\n}\n", "field T.B"},
		{"a type's comment covers its first fields", Documented, "x/a.go", doc + "package x\n// T is A and B.\ntype T struct {\n\tA int\n\tB int\n}\n", ""},
		{"a comment covers the fields below it", Documented, "x/a.go", doc + "package x\n// T is.\ntype T struct {\n\t// A and B are.\n\tA int\n\tB int\n}\n", ""},
		{"an empty line ends what a comment covers", Documented, "x/a.go", doc + "package x\n// T is.\ntype T struct {\n\t// A is.\n\tA int\n\n\tB int\n}\n", "field T.B"},
		{"an interface's method needs a comment", Documented, "x/a.go", doc + "package x\n// T is.\ntype T interface {\n\tM()\n\n\tN()\n}\n", "method T.N"},
		{"a comment above constants covers all", Documented, "x/a.go", doc + "package x\n// These are.\nconst (\n\tA = 1\n\n\tB = 2\n)\n", ""},
		{"a constant needs a comment", Documented, "x/a.go", doc + "package x\nconst A = 1\n", "const A"},
		{"a generated file needs none", Documented, "x/a.go", "// Code generated by x. DO NOT EDIT.\n\n" + doc + "package x\nfunc F() {}\n", ""},
		{"a folder called util is refused", Documented, "x/util/a.go", doc + "package util\n", "what is the noun"},

		{"a long file is refused", Sizes, "x/a.go", long, "lines; split it"},
		{"a long generated file is not", Sizes, "x/a.go", "// Code generated by x. DO NOT EDIT.\n\n" + long, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tree, err := Load(fstest.MapFS{c.file: {Data: []byte(c.source)}})
			if err != nil {
				t.Fatal(err)
			}
			got := c.check(tree)
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("complaints: %q, want none", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Errorf("complaints: %q, want one that says %q", got, c.want)
			}
		})
	}
}

func TestLoadLeavesOutWhatTheGoToolLeavesOut(t *testing.T) {
	tree, err := Load(fstest.MapFS{
		"a/a.go":          {Data: []byte("package a")},
		"a/testdata/b.go": {Data: []byte("no Go at all")},
		".hidden/c.go":    {Data: []byte("no Go at all")},
		"_off/d.go":       {Data: []byte("no Go at all")},
		"nested/go.mod":   {Data: []byte("module nested")},
		"nested/e.go":     {Data: []byte("no Go at all")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pkg := range tree.Packages {
		got = append(got, pkg.Path)
	}
	if want := []string{"a"}; !slices.Equal(got, want) {
		t.Errorf("packages %q, want %q", got, want)
	}
}
