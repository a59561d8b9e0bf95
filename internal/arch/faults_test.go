package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// proof is what docs/FAULTS.md says of a case: `path:TestName`, or `path:TestName/case`.
var proof = regexp.MustCompile("`([a-z/]+):(Test\\w+)(?:/([^`]+))?`")

// mention is a test that a page names without its package.
var mention = regexp.MustCompile("`(Test\\w+)`")

// TestTestsThatPagesNameExist keeps docs/FAULTS.md and docs/RELIABILITY.md from promising tests that are gone.
func TestTestsThatPagesNameExist(t *testing.T) {
	root := os.DirFS("../..")
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	tests := map[string][]string{} // by package
	for _, pkg := range tree.Packages {
		tests[pkg.Path] = testsOf(pkg)
		for _, name := range tests[pkg.Path] {
			all[name] = true
		}
	}
	for _, m := range proof.FindAllStringSubmatch(strings.Join(faults(t, root), "\n"), -1) {
		if !slices.Contains(tests[m[1]], m[2]) {
			t.Errorf("docs/FAULTS.md: package %s has no %s", m[1], m[2])
		}
		if m[3] != "" && !hasCase(tree, root, m[1], m[3]) {
			t.Errorf("docs/FAULTS.md: package %s has no case %q", m[1], m[3])
		}
	}
	for _, m := range mention.FindAllStringSubmatch(read(t, root, "docs/RELIABILITY.md"), -1) {
		if !all[m[1]] {
			t.Errorf("docs/RELIABILITY.md: there is no %s", m[1])
		}
	}
}

// TestEachFaultIsJudged holds each case of docs/FAULTS.md to a test or a reason, and the page to its own sum.
func TestEachFaultIsJudged(t *testing.T) {
	root := os.DirFS("../..")
	seen, tested, partly, open, not := map[string]bool{}, 0, 0, 0, 0
	for _, row := range faults(t, root) {
		cells := strings.Split(row, " | ")
		if number := cells[0]; seen[number] {
			t.Errorf("%s stands there twice", number)
		}
		seen[cells[0]] = true
		switch judgement := cells[len(cells)-1]; {
		case strings.HasPrefix(judgement, "**open**: "):
			open++
		case strings.HasPrefix(judgement, "**not Stream**: "):
			not++
		case !proof.MatchString(judgement):
			t.Errorf("neither a test nor a reason: %s", row)
		case strings.Contains(judgement, "; **partly**: "):
			partly++
		default:
			tested++
		}
	}
	sum := fmt.Sprintf("%d cases: %d tested, %d partly, %d open, %d not of Stream mode.", len(seen), tested, partly, open, not)
	if !strings.Contains(read(t, root, "docs/FAULTS.md"), sum) {
		t.Errorf("docs/FAULTS.md does not say: %s", sum)
	}
}

// faults are the rows of docs/FAULTS.md.
func faults(t *testing.T, root fs.FS) []string {
	t.Helper()
	rows := regexp.MustCompile(`(?m)^\| \d+ \| .*$`).FindAllString(read(t, root, "docs/FAULTS.md"), -1)
	if len(rows) < 50 {
		t.Fatalf("docs/FAULTS.md has %d rows; has its form changed?", len(rows))
	}
	return rows
}

func read(t *testing.T, root fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// testsOf names the test functions of a package, whatever build tags their files have.
func testsOf(pkg Package) []string {
	var names []string
	for _, file := range pkg.Files {
		if !file.Test {
			continue
		}
		for _, d := range file.AST.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// hasCase says whether a package has a transcript of that name, or a text with these words in one of its tests.
func hasCase(tree *Tree, root fs.FS, pkgPath, name string) bool {
	if _, err := fs.Stat(root, path.Join(pkgPath, "testdata", name+".txt")); err == nil {
		return true
	}
	found := false
	for _, pkg := range tree.Packages {
		if pkg.Path != pkgPath {
			continue
		}
		for _, file := range pkg.Files {
			if !file.Test {
				continue
			}
			ast.Inspect(file.AST, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					found = found || err == nil && text == name
				}
				return !found
			})
		}
	}
	return found
}
