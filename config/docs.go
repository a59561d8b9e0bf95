package config

import (
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/mapping/field"
)

// Markdown returns docs/CONFIGURATION.md, made from the tables that [Load] checks by. A test fails when the page is stale;
// «go test ./config -update» writes it anew.
func Markdown() []byte {
	var b strings.Builder
	b.WriteString(docsHead)
	section(&b, "The blocks of a file", "", documentType.Fields, nil, false)
	section(&b, "`server`", "", serverType.Fields, nil, true)
	section(&b, "`clusters.NAME`", "Names are "+mapping.EntryNameLooks+".", clusterType.Fields, clusterType.Rules, true)
	section(&b, "`functions.NAME`", "", functionType.Fields, functionType.Rules, true)
	section(&b, "`state`", "Not yet supported as a whole.", stateType.Fields, nil, true)
	b.WriteString(docsMappings)
	for _, s := range mapping.Sections() {
		fmt.Fprintf(&b, "### %s\n\n", s.Title)
		if s.Intro != "" {
			b.WriteString(s.Intro + "\n\n")
		}
		if s.Fields[0].Never != "" {
			b.WriteString(field.MarkdownRefused(s.Fields) + "\n")
			continue
		}
		b.WriteString(field.Markdown(s.Fields) + "\n")
	}
	b.WriteString("### Rules between the fields of a mapping\n\n" + field.MarkdownRules(mapping.Type().Rules) + "\n")
	b.WriteString(docsAcross)
	fmt.Fprintf(&b, docsBounds, FileBytesMax, FilesMax, NodesMax, DepthMax, ErrorsMax)
	return []byte(b.String())
}

// section writes a heading and a table; deep says whether the fields of objects have rows too.
func section(b *strings.Builder, title, intro string, fields []field.Field, rules []field.Rule, deep bool) {
	fmt.Fprintf(b, "## %s\n\n", title)
	if intro != "" {
		b.WriteString(intro + "\n\n")
	}
	if !deep {
		fields = shallow(fields)
	}
	b.WriteString(field.Markdown(fields) + "\n")
	if len(rules) > 0 {
		b.WriteString(field.MarkdownRules(rules) + "\n")
	}
}

// shallow returns the fields without the fields of their objects, which have sections of their own.
func shallow(fields []field.Field) []field.Field {
	out := make([]field.Field, len(fields))
	copy(out, fields)
	for i := range out {
		out[i].Type.Fields = nil
		if out[i].Type.Kind == field.KindList {
			out[i].Type.Elem = &field.Type{Kind: field.KindObject}
		}
	}
	return out
}

const docsHead = `# Configuration

<!-- Written by «go test ./config -update» from the tables that the check uses. Change those. -->

A configuration is one or more YAML files, or folders of them, given with ` + "`-f`" + `. ` + "`sluice validate -f FILE`" + ` shows every
mistake at once, each with its file, line and column; ` + "`sluice schema`" + ` writes a JSON Schema for editors; ` + "`sluice init`" + ` writes a
file to begin with.

` + "```yaml" + `
clusters:
  main:
    bootstrapServers: [broker1:9092]
functions:
  orders:
    url: http://127.0.0.1:9000/
mappings:
  - name: orders
    function: orders
    cluster: main
    topics: [orders]
` + "```" + `

- **Values from outside.** ` + "`${NAME}`" + ` is an environment variable and ` + "`${file:PATH}`" + ` the content of a file, without the newline at
  its end. Both work in any value, also within a longer text; ` + "`$${`" + ` stands for the two characters. A missing one is a mistake.
  What came from outside is never shown in a message.
- **Rotation.** Without a restart: passwords and client secrets that stand in a file are read again at each login, header values
  and the certificates of functions a second after they changed, certificates and authorities of clusters at each new
  connection. Files may be replaced in place, by renaming, or behind a symlink, as Kubernetes does it. What cannot be read or
  does not fit together (a certificate before its key) leaves the last good one, and a warning in the log.
- **Paths** are relative to the file that holds them.
- **Durations** are like ` + "`30s`, `1m30s`, `500ms`" + `; fields that end in «InSeconds» are AWS's and take whole seconds. **Sizes** are bytes or
  like ` + "`6MB`, `1.5GiB`" + ` (KB, MB and GB are powers of 1000); **rates** are like ` + "`5MB/s`, or `unlimited`" + `.
- **Unknown keys** are mistakes, and so is a key with nothing behind it.
- **Anchors, aliases and merge keys** (` + "`<<`" + `) work. A file holds one YAML document.
- **Several files** are one configuration: their clusters, functions and mappings are put together, and the same key in two files
  is a mistake.
- **` + "`defaults`" + `** go into the mappings of the same file that lack them: objects member by member, lists and all else whole. In a
  mapping ` + "`null`" + ` undoes a default.
- **Not yet supported** fields are known and checked, and then refused: nothing is ignored.

`

const docsMappings = "## `mappings[]`\n\n" +
	"The fields are those of AWS Lambda's CreateEventSourceMapping with a small first letter, the same ranges and the same defaults; " +
	"«Sluice only» marks those beyond it. `cluster` stands for SelfManagedEventSource and SourceAccessConfigurations, and the members of " +
	"SelfManagedKafkaEventSourceConfig stand in the mapping itself.\n\n"

const docsAcross = `## Rules between entries

- The names of mappings are unique, and so are those of clusters and of functions.
- A mapping's cluster and function, and the cluster of its destination, exist.
- Two mappings on one cluster have different consumer groups.
- The files of a cluster's ` + "`tls`" + ` exist and hold certificates, and a certificate goes with its key.

`

const docsBounds = `## Bounds

A file has at most %d bytes. At most %d files, %d values with anchors and defaults taken in, and %d levels of nesting are read. The
first %d mistakes are shown.
`
