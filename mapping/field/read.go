package field

import (
	"fmt"
	"strings"
)

// Read returns the value of the field at a dotted path of scope, which has type t and was checked without a problem, or its
// default where it is missing. T is the type that the field's kind names; anything else, a path that t does not know, and a
// missing field without a default are mistakes in the program, and panic. See [Has] for asking whether a field is there.
func Read[T any](t *Type, scope *Node, path string) T {
	f := t.lookup(path)
	n := scope.At(path)
	var v any
	if n != nil && n.Kind != Null {
		var failure string
		if v, failure = f.Type.value(n); failure != "" {
			panic(fmt.Sprintf("field: %s %s, and was not checked", path, failure))
		}
	} else {
		v = f.defaultIn(scope)
	}
	out, ok := v.(T)
	if !ok {
		panic(fmt.Sprintf("field: %s is %T, not %T", path, v, out))
	}
	return out
}

// Strings returns the texts of the list at a dotted path of scope, nil where it is missing.
func Strings(scope *Node, path string) []string {
	n := scope.At(path)
	if n.empty() {
		return nil
	}
	list := make([]string, len(n.Items))
	for i, item := range n.Items {
		list[i] = item.Text
	}
	return list
}

// defaultIn returns the field's default in scope.
func (f *Field) defaultIn(scope *Node) any {
	for _, c := range f.Cases {
		if c.When.Holds(scope) {
			return c.Value
		}
	}
	return f.Default
}

// lookup returns the field at a dotted path.
func (t *Type) lookup(path string) *Field {
	var f *Field
	for name := range strings.SplitSeq(path, ".") {
		if f = t.Field(name); f == nil {
			panic("field: the table has no " + path)
		}
		t = &f.Type
	}
	return f
}
