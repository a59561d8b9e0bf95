package arch

import (
	"fmt"
	"go/ast"
	"strings"
)

// impure are the packages that bring the world into a room that must only decide: a listed one is meant with all that
// lies below it, except what pureAfterAll names.
var impure = []string{
	"context", "crypto/rand", "database", "io/fs", "io/ioutil", "log", "math/rand", "net", "os", "plugin", "runtime",
	"sync", "syscall", "testing",
}

// pureAfterAll are pure although they lie below an impure path.
var pureAfterAll = []string{"net/netip", "net/url"}

// clocks are the functions of package time that read or wait for the clock. Its types are welcome.
var clocks = map[string]bool{
	"After": true, "AfterFunc": true, "NewTicker": true, "NewTimer": true, "Now": true, "Since": true, "Sleep": true,
	"Tick": true, "Until": true,
}

// outsidePurely are the modules of others that a deciding room may use, with the reason.
var outsidePurely = []exception{
	{"record", "github.com/twmb/franz-go/pkg/kgo", "Record is the client's own type, so that none is converted on the hot path"},
	{"filter", "golang.org/x/text", "upper and lower case of a character, by Unicode's full mappings"},
	{"mapping", "github.com/agext/levenshtein", "the distance of two words is a function of them"},
	{"mapping", "github.com/google/uuid", "UUIDv5 of a name is a hash"},
	{"mapping", "github.com/robfig/cron/v3", "parsing a schedule is pure; its runner is not used"},
	{"scaling", "github.com/robfig/cron/v3", "the next time of a schedule is a function of a given time"},
}

// impureAllowed are impure imports of a deciding room that do no harm, with the reason.
var impureAllowed = []exception{
	{"failure", "context", "its Destination interface hands a caller's context on; failure itself does not wait"},
	{"filter", "sync", "a pool of scratch memory; what a match decides does not depend on it"},
	{"mapping", "sync", "the field tables keep their compiled expressions; what they decide does not depend on it"},
}

// Purity returns a complaint for everything in a deciding room, or in record, that could make it depend on more than
// its arguments: clocks, randomness, I/O, locks, goroutines, channels, modules of others.
func Purity(tree *Tree) []string {
	var complaints []string
	for _, pkg := range tree.Packages {
		r, ok := roomOf(pkg.Path)
		if !ok || r.level > deciding {
			continue
		}
		for _, file := range pkg.Files {
			if file.Test {
				continue
			}
			complain := func(node ast.Node, format string, args ...any) {
				complaints = append(complaints, fmt.Sprintf("%s: %s (%s) %s; "+
					"time and randomness come in as arguments, what to do goes out as data",
					tree.at(node), r.path, r.level, fmt.Sprintf(format, args...)))
			}
			impureImports(r, file, complain)
			impureSyntax(file, complain)
		}
	}
	return complaints
}

func impureImports(r room, file File, complain func(ast.Node, string, ...any)) {
	file.imports(func(p string, spec *ast.ImportSpec) {
		switch {
		case within(p, Module):
		case strings.Contains(strings.SplitN(p, "/", 2)[0], "."): // a domain: somebody's module
			if !listed(outsidePurely, r.path, p) {
				complain(spec, "imports %s, which is not in outsidePurely of internal/arch/purity.go", p)
			}
		case below(p, impure) && !below(p, pureAfterAll) && !listed(impureAllowed, r.path, p):
			complain(spec, "imports %s", p)
		}
	})
}

func impureSyntax(file File, complain func(ast.Node, string, ...any)) {
	timeName := ""
	file.imports(func(p string, spec *ast.ImportSpec) {
		if p == "time" {
			timeName = "time"
			if spec.Name != nil {
				timeName = spec.Name.Name
			}
		}
	})
	ast.Inspect(file.AST, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.GoStmt:
			complain(n, "starts a goroutine")
		case *ast.ChanType:
			complain(n, "uses a channel")
		case *ast.SelectStmt:
			complain(n, "waits in a select")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && timeName != "" && x.Name == timeName && clocks[n.Sel.Name] {
				complain(n, "uses time.%s", n.Sel.Name)
			}
		}
		return true
	})
}

func listed(list []exception, from, to string) bool {
	for _, e := range list {
		if e.from == from && within(to, e.to) {
			return true
		}
	}
	return false
}

func below(p string, list []string) bool {
	for _, l := range list {
		if within(p, l) {
			return true
		}
	}
	return false
}
