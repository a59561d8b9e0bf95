package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// selfEvident are methods whose meaning is fixed by the standard library.
var selfEvident = map[string]bool{
	"String": true, "Error": true, "Unwrap": true, "Is": true, "As": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true, "UnmarshalYAML": true,
	"Len": true, "Less": true, "Swap": true,
}

var generatedLine = regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.$`)

// Documented returns a complaint for every package without a doc comment, every exported name without one, and every
// package whose name says nothing.
//
// A comment above a group of constants, variables, fields or methods covers the group: the lines up to the next empty
// one; so does a type's comment for the first group of its fields or methods. Test files, generated files and package main need comments for the package only.
func Documented(tree *Tree) []string {
	var complaints []string
	for _, pkg := range tree.Packages {
		if vague[path.Base(pkg.Path)] {
			complaints = append(complaints, fmt.Sprintf("%s: the name says nothing; what is the noun?", pkg.Path))
		}
		if !hasPackageDoc(pkg) {
			complaints = append(complaints, fmt.Sprintf(
				"%s: no package comment; say what it is for, and what it leaves to whom", pkg.Path))
		}
		for _, file := range pkg.Files {
			if file.Test || generated(file) || file.AST.Name.Name == "main" {
				continue
			}
			d := documentation{tree: tree}
			d.file(file)
			complaints = append(complaints, d.complaints...)
		}
	}
	return complaints
}

func hasPackageDoc(pkg Package) bool {
	for _, file := range pkg.Files {
		if strings.TrimSpace(file.AST.Doc.Text()) != "" {
			return true
		}
	}
	return false
}

func generated(file File) bool {
	for _, group := range file.AST.Comments {
		if group.Pos() > file.AST.Package {
			return false
		}
		for _, line := range group.List {
			if generatedLine.MatchString(line.Text) {
				return true
			}
		}
	}
	return false
}

// documentation collects the undocumented names of one file.
type documentation struct {
	tree       *Tree
	complaints []string
}

func (d *documentation) missing(node ast.Node, kind, name string) {
	d.complaints = append(d.complaints, fmt.Sprintf("%s: %s %s is exported and has no comment", d.tree.at(node), kind, name))
}

func (d *documentation) file(file File) {
	for _, decl := range file.AST.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			d.function(decl)
		case *ast.GenDecl:
			switch decl.Tok {
			case token.TYPE:
				d.types(decl)
			case token.CONST, token.VAR:
				d.values(decl)
			}
		}
	}
}

func (d *documentation) function(decl *ast.FuncDecl) {
	name := decl.Name.Name
	if !decl.Name.IsExported() || commented(decl.Doc) {
		return
	}
	if decl.Recv == nil {
		d.missing(decl, "func", name)
		return
	}
	receiver := receiverName(decl.Recv.List[0].Type)
	if ast.IsExported(receiver) && !selfEvident[name] {
		d.missing(decl, "method", receiver+"."+name)
	}
}

func (d *documentation) types(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		spec := spec.(*ast.TypeSpec)
		if !spec.Name.IsExported() {
			continue
		}
		said := commented(decl.Doc) || commented(spec.Doc) || commented(spec.Comment)
		if !said {
			d.missing(spec, "type", spec.Name.Name)
		}
		switch t := spec.Type.(type) {
		case *ast.StructType:
			d.members(spec.Name.Name, "field", t.Fields, said)
		case *ast.InterfaceType:
			d.members(spec.Name.Name, "method", t.Methods, said)
		}
	}
}

// members checks fields or methods; said is whether their type has a comment, which covers the first group.
func (d *documentation) members(owner, kind string, fields *ast.FieldList, said bool) {
	c := cover{tree: d.tree, covered: said, end: d.tree.fset.Position(fields.Opening).Line}
	for _, field := range fields.List {
		if c.next(field, field.Doc, field.Comment) {
			continue
		}
		for _, name := range field.Names {
			if name.IsExported() && !(kind == "method" && selfEvident[name.Name]) {
				d.missing(name, kind, owner+"."+name.Name)
			}
		}
	}
}

func (d *documentation) values(decl *ast.GenDecl) {
	if commented(decl.Doc) {
		return
	}
	c := cover{tree: d.tree}
	for _, spec := range decl.Specs {
		spec := spec.(*ast.ValueSpec)
		if c.next(spec, spec.Doc, spec.Comment) {
			continue
		}
		for _, name := range spec.Names {
			if name.IsExported() {
				d.missing(name, decl.Tok.String(), name.Name)
			}
		}
	}
}

// cover follows the lines of a group: a comment above one member covers those that follow without an empty line.
type cover struct {
	tree    *Tree
	covered bool
	end     int // line where the last member ended
}

func (c *cover) next(member ast.Node, doc, line *ast.CommentGroup) bool {
	fset := c.tree.fset
	start := fset.Position(member.Pos()).Line
	if doc != nil {
		start = fset.Position(doc.Pos()).Line
	}
	if start > c.end+1 {
		c.covered = false
	}
	c.end = fset.Position(member.End()).Line
	if commented(doc) {
		c.covered = true
	}
	return c.covered || commented(line)
}

func commented(group *ast.CommentGroup) bool {
	return group != nil && strings.TrimSpace(group.Text()) != ""
}

func receiverName(expr ast.Expr) string {
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
