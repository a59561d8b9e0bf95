package config

import (
	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/mapping/field"
)

// dictionary builds an object: its own members in their order, then those that merge keys («<<») bring and it lacks.
func (t *treeBuilder) dictionary(n *yaml.Node, path string, depth int) *field.Node {
	if !t.tagged(n, path, "!!map") {
		return nil
	}
	out := &field.Node{Kind: field.Dictionary, Place: t.place(n)}
	places := map[string]field.Place{}
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content) && !t.budget.over; i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merges = append(merges, value)
			continue
		}
		name, ok := t.key(key, path)
		if !ok {
			continue
		}
		at := t.place(n.Content[i])
		if first, twice := places[name]; twice {
			t.errs.add(at, joinPath(path, name), "", "is there twice, first at line %d", first.Line)
			continue
		}
		places[name] = at
		v := t.build(value, joinPath(path, name), depth+1)
		if v == nil {
			v = &field.Node{Kind: field.Broken, Place: t.place(value)}
		}
		out.Members = append(out.Members, field.Member{Key: name, Place: at, Value: v})
	}
	for _, m := range merges {
		t.merge(out, places, m, path, depth+1)
	}
	return out
}

// key returns an object's key as text.
func (t *treeBuilder) key(n *yaml.Node, path string) (string, bool) {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		t.errs.add(t.place(n), path, "", "a key is a list or an object; allowed: text")
		return "", false
	}
	if len(n.Value) > KeyBytesMax {
		t.errs.add(t.place(n), path, "", "the key %.60s… is longer than %d bytes", n.Value, KeyBytesMax)
		return "", false
	}
	return n.Value, true
}

// merge takes in what a merge key names: an object or a list of them, of which an earlier one counts before a later one.
func (t *treeBuilder) merge(out *field.Node, places map[string]field.Place, from *yaml.Node, path string, depth int) {
	target := from
	if target.Kind == yaml.AliasNode && target.Alias != nil {
		target = target.Alias
	}
	switch {
	case target.Kind == yaml.SequenceNode && from == target:
		for _, item := range target.Content {
			if item.Kind == yaml.SequenceNode {
				t.errs.add(t.place(item), path, "", "the merge key << takes objects, not a list in a list")
				return
			}
			t.merge(out, places, item, path, depth)
		}
	case target.Kind == yaml.MappingNode:
		v := t.build(from, path, depth)
		if v == nil {
			return
		}
		for _, m := range v.Members {
			if _, has := places[m.Key]; !has {
				places[m.Key] = m.Place
				out.Members = append(out.Members, m)
			}
		}
	default:
		t.errs.add(t.place(from), path, "", "the merge key << takes an object or a list of objects")
	}
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
