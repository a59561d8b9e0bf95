package config

import (
	"encoding/json"
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/mapping/field"
)

// budget bounds what one Load builds.
type budget struct {
	// nodes is how many more values there may be.
	nodes int
	// over is set when they are used up, and reported once.
	over bool
}

// spend takes n values and says whether they were there.
func (b *budget) spend(n int) bool {
	b.nodes -= n
	return b.nodes >= 0
}

// treeBuilder turns the YAML nodes of one file into a tree of values: anchors and merge keys taken in, references replaced.
type treeBuilder struct {
	file   string
	expand *expander
	budget *budget
	errs   *Errors
	// open are the anchored nodes that are being taken in, to find one that holds itself.
	open map[*yaml.Node]bool
}

func (t *treeBuilder) place(n *yaml.Node) field.Place {
	return field.Place{File: t.file, Line: max(1, n.Line), Col: max(1, n.Column)}
}

// build returns n as a tree; where something is wrong with it, the mistake is reported and the value is left out (nil).
func (t *treeBuilder) build(n *yaml.Node, path string, depth int) *field.Node {
	if !t.budget.spend(1) {
		if !t.budget.over {
			t.budget.over = true
			t.errs.add(t.place(n), path, "", "is one value too many, anchors expanded; allowed: %d in all files together", NodesMax)
		}
		return nil
	}
	if len(*t.errs) > ErrorsMax {
		t.budget.over = true // the rest would not be shown
		return nil
	}
	if depth > DepthMax {
		t.errs.add(t.place(n), path, "", "is nested too deep; allowed: %d levels", DepthMax)
		return nil
	}
	if n.Anchor != "" && n.Kind != yaml.AliasNode {
		t.open[n] = true
		defer delete(t.open, n)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return t.alias(n, path, depth)
	case yaml.MappingNode:
		return t.dictionary(n, path, depth)
	case yaml.SequenceNode:
		return t.sequence(n, path, depth)
	}
	return t.scalar(n, path)
}

func (t *treeBuilder) alias(n *yaml.Node, path string, depth int) *field.Node {
	if n.Alias == nil || t.open[n.Alias] {
		t.errs.add(t.place(n), path, "", "anchor %s holds itself", n.Value)
		return nil
	}
	return t.build(n.Alias, path, depth+1)
}

func (t *treeBuilder) sequence(n *yaml.Node, path string, depth int) *field.Node {
	if !t.tagged(n, path, "!!seq") {
		return nil
	}
	out := &field.Node{Kind: field.Sequence, Place: t.place(n)}
	for i, item := range n.Content {
		if t.budget.over {
			return nil
		}
		v := t.build(item, fmt.Sprintf("%s[%d]", path, i), depth+1)
		if v == nil {
			v = &field.Node{Kind: field.Broken, Place: t.place(item)} // keeps the numbering of the others
		}
		out.Items = append(out.Items, v)
	}
	return out
}

// tagged says whether the node's tag is the plain one of its kind, and reports another.
func (t *treeBuilder) tagged(n *yaml.Node, path, want string) bool {
	if tag := n.ShortTag(); tag != want {
		t.errs.add(t.place(n), path, "", "the tag %.60s is not known", tag)
		return false
	}
	return true
}

func (t *treeBuilder) scalar(n *yaml.Node, path string) *field.Node {
	out := &field.Node{Place: t.place(n)}
	text, found, wrong := t.expand.expand(t.file, n.Value)
	for _, w := range wrong {
		t.errs.add(out.Place, path, "", "%s", w)
	}
	if len(wrong) > 0 {
		out.Kind = field.Broken
		return out
	}
	if found {
		out.Reference = n.Value
		out.Kind, out.Text = kindOf(n, text), text
		return out
	}
	if !t.resolve(n, text, out) {
		t.errs.add(out.Place, path, "", "the tag %.60s is not known or does not fit its value", n.ShortTag())
		out.Kind = field.Broken
	}
	return out
}

// resolve reads a scalar without references by YAML's rules.
func (t *treeBuilder) resolve(n *yaml.Node, text string, out *field.Node) bool {
	out.Text = text
	switch n.ShortTag() {
	case "!!str", "!!timestamp", "!!merge":
		out.Kind = field.Text
	case "!!null":
		out.Kind, out.Text = field.Null, ""
	case "!!bool":
		var v bool
		if n.Decode(&v) != nil {
			return false
		}
		out.Kind, out.Text = field.Boolean, strconv.FormatBool(v)
	case "!!int", "!!float":
		return resolveNumber(n, out)
	default:
		return false
	}
	return true
}

// resolveNumber reads a number; whole ones get their decimal digits as text, whatever their notation.
func resolveNumber(n *yaml.Node, out *field.Node) bool {
	var v any
	if n.Decode(&v) != nil {
		return false
	}
	switch v := v.(type) {
	case int, int64, uint64:
		out.Kind, out.Text = field.Integer, fmt.Sprint(v)
	case float64:
		out.Kind = field.Float
	default:
		return false
	}
	return true
}

// kindOf returns what the text of a reference is where its scalar stood without quotes: a number or a boolean of JSON, else
// text.
func kindOf(n *yaml.Node, text string) field.NodeKind {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch plain := n.Style&quoted == 0; {
	case plain && (text == "true" || text == "false"):
		return field.Boolean
	case plain && text != "" && (text[0] == '-' || '0' <= text[0] && text[0] <= '9') && json.Valid([]byte(text)):
		return field.Float
	}
	return field.Text
}

// root builds the whole file.
func (t *treeBuilder) root(n *yaml.Node) *field.Node {
	t.open = map[*yaml.Node]bool{}
	return t.build(n, "", 0)
}
