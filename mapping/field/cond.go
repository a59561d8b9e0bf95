package field

import "slices"

// Cond is a condition on a field of the scope. It is data, so that the check and the JSON Schema say the same.
type Cond struct {
	// Path is the field's, dotted, from the scope.
	Path string
	// Is are the words it must be one of; where there are none it must be there and not be empty.
	Is []string
	// Not turns the condition round.
	Not bool
}

// Is returns the condition that the field at path is one of values; a missing one is none of them.
func Is(path string, values ...string) Cond { return Cond{Path: path, Is: values} }

// IsNot returns the condition that the field at path is none of values; a missing one is none of them.
func IsNot(path string, values ...string) Cond { return Cond{Path: path, Is: values, Not: true} }

// Has returns the condition that the field at path is there and not an empty text, list or object.
func Has(path string) Cond { return Cond{Path: path} }

// HasNot returns the condition that the field at path is missing or empty.
func HasNot(path string) Cond { return Cond{Path: path, Not: true} }

// Holds says whether the condition holds in scope.
func (c Cond) Holds(scope *Node) bool {
	n := scope.At(c.Path)
	held := !n.empty()
	if held && c.Is != nil {
		held = slices.Contains(c.Is, n.Text)
	}
	return held != c.Not
}

// empty says whether a value asks for nothing: missing, null, or empty text, list or object.
func (n *Node) empty() bool {
	if n == nil {
		return true
	}
	switch n.Kind {
	case Null:
		return true
	case Text:
		return n.Text == ""
	case Sequence:
		return len(n.Items) == 0
	case Dictionary:
		return len(n.Members) == 0
	}
	return false
}
