package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Module is the import path that the tree's packages start with.
const Module = "github.com/sluicehq/sluice"

// Tree is the parsed source of the module, one Package per folder that holds Go files, sorted by path.
type Tree struct {
	Packages []Package

	fset *token.FileSet
}

// Package is one folder. Its files may belong to two packages, x and x_test.
type Package struct {
	// Path is relative to the module's root, with slashes: "poller/group"; "." for the root.
	Path  string
	Files []File
}

// File is one parsed Go file.
type File struct {
	// Path is relative to the module's root.
	Path  string
	Test  bool // named _test.go
	Lines int
	AST   *ast.File
}

// Load parses every Go file below root. It leaves out what the go tool leaves out (testdata, vendor, names that begin
// with a dot or an underscore) and folders with a go.mod of their own. A file that does not parse is an error.
func Load(root fs.FS) (*Tree, error) {
	tree := &Tree{fset: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			return nil
		}
		if p != "." && skipped(root, p) {
			return fs.SkipDir
		}
		pkg, err := tree.load(root, p)
		if err != nil {
			return err
		}
		if len(pkg.Files) > 0 {
			tree.Packages = append(tree.Packages, pkg)
		}
		return nil
	})
	return tree, err
}

func skipped(root fs.FS, dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	return err == nil
}

func (t *Tree) load(root fs.FS, dir string) (Package, error) {
	pkg := Package{Path: dir}
	names, err := fs.Glob(root, path.Join(dir, "*.go"))
	if err != nil {
		return pkg, err
	}
	for _, name := range names {
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return pkg, err
		}
		parsed, err := parser.ParseFile(t.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return pkg, err
		}
		pkg.Files = append(pkg.Files, File{
			Path:  name,
			Test:  strings.HasSuffix(name, "_test.go"),
			Lines: strings.Count(string(source), "\n"),
			AST:   parsed,
		})
	}
	return pkg, nil
}

// at says where a node stands, as file:line.
func (t *Tree) at(node ast.Node) string {
	p := t.fset.Position(node.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// imports calls yield for each import of a file with its path and node.
func (f File) imports(yield func(string, *ast.ImportSpec)) {
	for _, spec := range f.AST.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			yield(p, spec)
		}
	}
}

// within reports whether a package path is room itself or lies below it.
func within(p, room string) bool {
	return p == room || strings.HasPrefix(p, room+"/")
}
