package field

import (
	"fmt"
	"slices"
	"strings"
)

// object checks the members that are there, those that are missing, and in a scope its rules.
func (k checker) object(t *Type, n *Node, path string) {
	if !k.shape(t, n, Dictionary, path) {
		return
	}
	if t.Scope {
		k.scope, k.scopePath = n, path
	}
	k.partial = k.partial || t.Partial
	before := len(*k.found)
	for i := range n.Members {
		k.member(t, &n.Members[i], path)
	}
	if k.partial {
		return
	}
	for i := range t.Fields {
		k.missing(&t.Fields[i], n, path)
	}
	if t.Scope {
		k.rules(t, (*k.found)[before:])
	}
}

func (k checker) member(t *Type, m *Member, path string) {
	at := join(path, m.Key)
	f := t.Field(m.Key)
	switch {
	case f == nil:
		k.found.add(m.Place, at, keyHint(m.Key, t.names()), "unknown key")
	case f.Never != "":
		k.found.add(m.Place, at, "", "%s", f.Never)
	default:
		k.field(f, m, at)
	}
}

// keyHint suggests a key for an unknown one, or lists those there are.
func keyHint(key string, known []string) string {
	const most = 12 // more do not help on one line
	if hint := DidYouMean(key, known); hint != "" {
		return hint
	}
	if len(known) > most {
		return "no key of the documentation is near"
	}
	return "allowed: " + words(known)
}

// field checks a member that its object knows.
func (k checker) field(f *Field, m *Member, path string) {
	if !k.partial {
		for _, r := range f.Refused {
			if r.When.Holds(k.scope) {
				k.found.add(m.Place, path, "", "%s", r.Why)
				return
			}
		}
	}
	before := len(*k.found)
	k.check(&f.Type, m.Value, path)
	if f.NotYet != nil && !k.AllowNotYet && len(*k.found) == before && m.Value.Kind != Broken {
		k.notYet(f, m, path)
	}
}

// notYet reports a valid value that needs something which does not exist yet.
func (k checker) notYet(f *Field, m *Member, path string) {
	ny, n := f.NotYet, m.Value
	switch {
	case ny.EmptyIsFine && n.empty():
	case ny.Values != nil:
		if slices.Contains(ny.Values, n.Text) {
			k.found.add(n.Place, path, "", "%s is not yet supported; allowed now: %s", n.Shown(), words(without(f.Type.Values, ny.Values)))
		}
	case ny.Pattern != nil && !ny.Pattern.MatchString(n.Text):
	case ny.Pattern != nil:
		k.found.add(n.Place, path, ny.Hint, "%s is not yet supported", ny.What)
	default:
		k.found.add(m.Place, path, "remove the key", "%s is not yet supported", ny.What)
	}
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// missing reports a field that is required and not there.
func (k checker) missing(f *Field, n *Node, path string) {
	if n.Member(f.Name) != nil {
		return
	}
	why := ""
	if f.Required {
		why = "is required"
	}
	for _, r := range f.RequiredWhen {
		if why == "" && r.When.Holds(k.scope) {
			why = "is required " + r.Why
		}
	}
	if why != "" {
		k.found.add(n.Place, join(path, f.Name), "", "%s; allowed: %s", why, f.Type.Allowed())
	}
}

// rules asks the scope's rules whose fields have none of the problems found so far.
func (k checker) rules(t *Type, found []Problem) {
	wrong := func(path string) bool {
		if n := k.scope.At(path); n != nil && n.broken() {
			return true
		}
		full := join(k.scopePath, path)
		return slices.ContainsFunc(found, func(p Problem) bool {
			rest, ok := strings.CutPrefix(p.Path, full)
			return ok && (rest == "" || rest[0] == '.' || rest[0] == '[') || strings.HasPrefix(full, p.Path+".")
		})
	}
	found = slices.Clone(found)
	for i := range t.Rules {
		r := &t.Rules[i]
		if slices.ContainsFunc(r.Paths, wrong) {
			continue
		}
		for _, v := range r.Check(k.scope, k.Context) {
			place := k.scope.Place
			if n := find(k.scope, v.Path); n != nil {
				place = n.Place
			}
			k.found.add(place, join(k.scopePath, v.Path), v.Hint, "%s", v.Message)
		}
	}
}

// find returns the value at a path with list indexes, such as topics[1], or nil.
func find(n *Node, path string) *Node {
	name, index, isList := strings.Cut(path, "[")
	n = n.At(name)
	var i int
	if _, err := fmt.Sscanf(index, "%d]", &i); isList && n != nil && err == nil && i < len(n.Items) {
		return n.Items[i]
	}
	return n
}

func join(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}
