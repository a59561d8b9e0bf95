package config

import (
	"slices"

	"github.com/sluicehq/sluice/mapping/field"
)

// Load reads files and folders as one configuration. The error is [Errors] with every mistake; whatever the files hold, it
// does not panic, and it is bounded by the constants of this package. Reading again may help where a file could not be read.
//
// It is also the check of a configuration: there is none beside it.
func Load(files []string, o Options) (*Config, error) {
	l := newLoader(o)
	found := findFiles(files, &l.errs)
	l.incomplete = len(l.errs) > 0
	for _, file := range found {
		data, err := l.options.ReadFile(file)
		if err != nil {
			l.errs.add(field.Place{File: file}, "", "", "cannot be read: %s", reason(err))
			l.incomplete = true
			continue
		}
		l.file(file, data)
	}
	return l.finish()
}

// Parse reads data as a configuration of one file with that name, which need not exist. It is [Load] without the first step.
func Parse(file string, data []byte, o Options) (*Config, error) {
	l := newLoader(o)
	l.file(file, data)
	return l.finish()
}

// loader is one Load on its way.
type loader struct {
	options Options
	expand  *expander
	budget  *budget
	errs    Errors
	// roots are the files that were read as YAML, each with its defaults taken in.
	roots []*field.Node
	// names are the files, read or not.
	names []string
	// certificates are the files of TLS blocks.
	certificates []string
	// trustFiles leaves the files of TLS blocks unread.
	trustFiles bool
	// incomplete is set where a file could not be read, so that what others refer to may be there after all.
	incomplete bool
}

func newLoader(o Options) *loader {
	o = o.withDefaults()
	return &loader{options: o, expand: &expander{options: o, left: ExpandedBytesMax}, budget: &budget{nodes: NodesMax}}
}

// file takes in one file: everything that can be said of it alone.
func (l *loader) file(name string, data []byte) {
	l.names = append(l.names, name)
	before := len(l.errs)
	root, ok := parseYAML(name, data, &l.errs)
	if root == nil {
		l.incomplete = l.incomplete || !ok
		return
	}
	builder := &treeBuilder{file: name, expand: l.expand, budget: l.budget, errs: &l.errs}
	if isTemplate(root) {
		l.errs.add(builder.place(root), "", "write the mappings as Sluice YAML", "CloudFormation templates are not yet supported")
		l.incomplete = true
		return
	}
	tree := builder.root(root)
	if tree == nil {
		l.incomplete = true
		return
	}
	if !takeInDefaults(tree, l.budget) {
		l.errs.add(tree.Place, "mappings", "", "have too many values with their defaults; allowed: %d in all files together", NodesMax)
		return
	}
	l.errs.addProblems(field.Check(&documentType, tree, "", field.Context{Now: l.options.Now}))
	l.incomplete = l.incomplete || tree.Kind != field.Dictionary || slices.ContainsFunc(l.errs[before:], func(e *Error) bool {
		return e.Path == "clusters" || e.Path == "functions"
	})
	if tree.Kind == field.Dictionary {
		if !l.trustFiles {
			l.checkTLSFiles(tree)
		}
		l.roots = append(l.roots, tree)
	}
}

// finish joins the files and says what came of it.
func (l *loader) finish() (*Config, error) {
	l.checkAcrossFiles()
	if !l.incomplete {
		l.checkReferences()
		l.checkFilters()
	}
	if len(l.errs) > 0 {
		return nil, l.errs.sorted().cut()
	}
	c := l.decode()
	c.Files = slices.Concat(l.names, l.expand.files, l.certificates)
	slices.Sort(c.Files)
	c.Files = slices.Compact(c.Files)
	return c, nil
}
