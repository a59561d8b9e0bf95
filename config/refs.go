package config

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/mapping/field"
)

// checkAcrossFiles finds what may be there once in all files and is there twice.
func (l *loader) checkAcrossFiles() {
	for _, block := range []string{"clusters", "functions", "server", "state"} {
		l.onceOnly(block)
	}
	names := map[string]*field.Node{}
	groups := map[string]field.Place{}
	for path, m := range l.mappings() {
		named := l.uniqueName(names, m, path)
		l.uniqueGroup(groups, m, path, named)
	}
}

// onceOnly reports the members of a block that stand in two files. Within one file the YAML itself is at fault.
func (l *loader) onceOnly(block string) {
	first := map[string]field.Place{}
	for _, root := range l.roots {
		n := root.At(block)
		if n == nil {
			continue
		}
		for _, m := range n.Members {
			if p, twice := first[m.Key]; twice {
				l.errs.add(m.Place, joinPath(block, m.Key), "", "is there twice, first at %s", p)
			} else {
				first[m.Key] = m.Place
			}
		}
	}
}

// mappings yields the mappings of all files that are objects, each with its path in its file.
func (l *loader) mappings() func(yield func(path string, m *field.Node) bool) {
	return func(yield func(string, *field.Node) bool) {
		for _, root := range l.roots {
			list := root.At("mappings")
			if list == nil {
				continue
			}
			for i, m := range list.Items {
				if m.Kind == field.Dictionary && !yield(fmt.Sprintf("mappings[%d]", i), m) {
					return
				}
			}
		}
	}
}

// textAt returns the text at a path of a mapping, nil where it is missing or no text.
func textAt(m *field.Node, path string) *field.Node {
	n := m.At(path)
	if n == nil || n.Text == "" || n.Kind != field.Text && n.Reference == "" {
		return nil
	}
	return n
}

// uniqueName says whether the mapping has a name of its own, and reports that of another.
func (l *loader) uniqueName(names map[string]*field.Node, m *field.Node, path string) bool {
	name := textAt(m, "name")
	if name == nil {
		return false
	}
	if first := names[name.Text]; first != nil {
		l.errs.add(name.Place, path+".name", "", "%s is the name of another mapping, at %s", name.Shown(), first.Place)
		return false
	}
	names[name.Text] = name
	return true
}

// uniqueGroup refuses a consumer group that another mapping has on the same cluster: the two would take each other's
// partitions. The default group of a mapping without a name of its own is not asked: the name is reported.
func (l *loader) uniqueGroup(groups map[string]field.Place, m *field.Node, path string, named bool) {
	cluster, group, name := textAt(m, "cluster"), textAt(m, "consumerGroupId"), textAt(m, "name")
	if cluster == nil || group == nil && (!named || m.At("consumerGroupId") != nil) {
		return
	}
	at, text, shown := group, "", ""
	if group != nil {
		text, shown = group.Text, group.Shown()
	} else {
		at, text = name, mapping.DefaultConsumerGroupID(mapping.Name(name.Text))
		shown = fmt.Sprintf("%q", mapping.DefaultConsumerGroupID(mapping.Name(cmp.Or(name.Reference, name.Text))))
	}
	key := cluster.Text + "\x00" + text
	first, twice := groups[key]
	if !twice {
		groups[key] = m.Place
		return
	}
	l.errs.add(at.Place, path+".consumerGroupId", "", "%s is the consumer group of another mapping on the same cluster, at %s", shown, first)
}

// checkReferences finds the names of clusters and functions that do not exist.
func (l *loader) checkReferences() {
	clusters, functions := l.keys("clusters"), l.keys("functions")
	for path, m := range l.mappings() {
		l.exists(m, path, "cluster", "clusters", clusters)
		l.exists(m, path, "function", "functions", functions)
		l.destinationExists(m, path, clusters)
	}
}

// checkFilters holds the patterns of all mappings against Lambda's table of operators, where server.compatibility says so.
func (l *loader) checkFilters() {
	strict := slices.ContainsFunc(l.roots, func(root *field.Node) bool {
		n := root.At("server.compatibility.strictFilters")
		return n != nil && n.Text == "true"
	})
	if !strict {
		return
	}
	for path, m := range l.mappings() {
		for _, v := range mapping.StrictFilters(m) {
			l.errs.add(v.Place, path+"."+v.Path, "", "%s", v.Message)
		}
	}
}

// keys returns the names of a block's entries in all files.
func (l *loader) keys(block string) []string {
	var names []string
	for _, root := range l.roots {
		if n := root.At(block); n != nil {
			for _, m := range n.Members {
				names = append(names, m.Key)
			}
		}
	}
	return names
}

func (l *loader) exists(m *field.Node, path, key, block string, known []string) {
	n := textAt(m, key)
	if n == nil || slices.Contains(known, n.Text) {
		return
	}
	l.errs.add(n.Place, path+"."+key, nearest(n, known), "%s is not an entry of %s", n.Shown(), block)
}

// nearest suggests a name, or says which there are; nothing of a value from outside the file.
func nearest(n *field.Node, known []string) string {
	if n.Reference == "" {
		if hint := field.DidYouMean(n.Text, known); hint != "" {
			return hint
		}
	}
	const most = 10
	switch known = slices.Sorted(slices.Values(known)); {
	case len(known) == 0:
		return "there is none"
	case len(known) > most:
		return fmt.Sprintf("there are %d", len(known))
	}
	return fmt.Sprintf("there is %s", list(known))
}

func list(words []string) string {
	out := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			out += " and " + w
		} else {
			out += ", " + w
		}
	}
	return out
}

func (l *loader) destinationExists(m *field.Node, path string, clusters []string) {
	const key = "destinationConfig.onFailure.destination"
	n := textAt(m, key)
	if n == nil {
		return
	}
	to, err := mapping.ParseDestinationURI(n.Text)
	if err != nil || to.Cluster == "" || slices.Contains(clusters, string(to.Cluster)) {
		return
	}
	name := &field.Node{Kind: field.Text, Text: string(to.Cluster), Reference: n.Reference}
	l.errs.add(n.Place, path+"."+key, nearest(name, clusters), "%s names a cluster that is not an entry of clusters", n.Shown())
}
