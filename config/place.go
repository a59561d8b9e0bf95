package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/mapping/field"
)

// located is an entry of a file: a cluster, a function or a mapping.
type located struct {
	path  string // within its file: «mappings[0]»
	place field.Place
	node  *field.Node
}

// Where is a value of a configuration, for what turns out to be wrong with it after [Load]: that a topic does not exist.
type Where struct {
	field.Place
	// Path is the value's, within its file: «mappings[0].topics[0]».
	Path string
	node *field.Node // nil where it is not in the file
}

// Problem says what is wrong with the value, as the mistakes of [Load] do; hint may be empty.
func (w Where) Problem(hint, format string, args ...any) *Error {
	return &Error{File: w.File, Line: w.Line, Col: w.Col, Path: w.Path, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// Quote returns text in quotes, or as the value is written where it came from outside the file and may not be shown.
func (w Where) Quote(text string) string {
	if w.node != nil && w.node.Reference != "" {
		return w.node.Shown()
	}
	return strconv.Quote(text)
}

// ClusterAt returns the value at a path of a cluster, such as «bootstrapServers[0]». A value that is not there has the
// place of what it is missing from. The same holds for the others.
func (c *Config) ClusterAt(name mapping.ClusterName, path string) Where {
	return c.at("clusters."+string(name), path)
}

// FunctionAt returns the value at a path of a function.
func (c *Config) FunctionAt(name mapping.FunctionName, path string) Where {
	return c.at("functions."+string(name), path)
}

// MappingAt returns the value at a path of a mapping.
func (c *Config) MappingAt(name mapping.Name, path string) Where {
	return c.at("mappings."+string(name), path)
}

// ServerAt returns the value of a key of the server block.
func (c *Config) ServerAt(key string) Where { return c.at("server."+key, "") }

// MappingPlace returns where the mapping with that name is declared; zero where there is none.
func (c *Config) MappingPlace(name mapping.Name) field.Place { return c.MappingAt(name, "").Place }

func (c *Config) locate(path string, m field.Member) {
	c.values[path] = located{path, m.Place, m.Value}
}

func (c *Config) at(entry, path string) Where {
	l, ok := c.values[entry]
	if !ok {
		return Where{Path: joinPath(entry, path)}
	}
	w := Where{Place: l.place, Path: l.path, node: l.node}
	if path == "" {
		return w
	}
	w.Path = joinPath(l.path, path)
	for step := range strings.SplitSeq(strings.ReplaceAll(path, "[", ".["), ".") {
		if w.node = below(w.node, step); w.node == nil {
			break
		}
		w.Place = w.node.Place
	}
	return w
}

// below returns the member with a key, or the element with an index in brackets; nil where there is none.
func below(n *field.Node, step string) *field.Node {
	index, isIndex := strings.CutPrefix(step, "[")
	if !isIndex {
		return n.At(step)
	}
	if i, err := strconv.Atoi(strings.TrimSuffix(index, "]")); err == nil && i >= 0 && i < len(n.Items) {
		return n.Items[i]
	}
	return nil
}

// Sorted returns the mistakes by place, each once, and at most [ErrorsMax] of them.
func (es Errors) Sorted() Errors { return es.sorted().cut() }
