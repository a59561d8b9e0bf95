package field

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Markdown returns the fields as a documentation table, one row each, those of objects after their object with a dotted name.
// It has a column of AWS's names where one of the fields has one.
func Markdown(fields []Field) string {
	t := table{withAWS: slices.ContainsFunc(fields, func(f Field) bool { return f.AWS != "" })}
	t.row("Key", "At AWS", "Allowed", "Default", "Meaning")
	t.row("---", "---", "---", "---", "---")
	t.fields(fields, "")
	return t.b.String()
}

// table is a documentation table on its way.
type table struct {
	b       strings.Builder
	withAWS bool
}

func (t *table) row(key, aws, allowed, def, meaning string) {
	cells := []string{key, aws, allowed, def, meaning}
	if !t.withAWS {
		cells = slices.Delete(cells, 1, 2)
	}
	t.b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func (t *table) fields(fields []Field, prefix string) {
	for i := range fields {
		f := &fields[i]
		path := join(prefix, f.Name)
		t.row("`"+path+"`", f.awsCell(), cell(f.allowedCell()), cell(f.defaultCell()), cell(f.meaning()))
		switch f.Type.Kind {
		case KindObject:
			t.fields(f.Type.Fields, path)
		case KindList:
			if f.Type.Elem.Kind == KindObject {
				t.fields(f.Type.Elem.Fields, path+"[]")
			}
		}
	}
}

// MarkdownRefused returns fields that are always refused as a table of names and reasons.
func MarkdownRefused(fields []Field) string {
	var b strings.Builder
	b.WriteString("| Key | Why |\n| --- | --- |\n")
	for i := range fields {
		fmt.Fprintf(&b, "| `%s` | %s |\n", fields[i].Name, cell(strings.TrimPrefix(fields[i].Never, "is not taken: ")))
	}
	return b.String()
}

// MarkdownRules returns the rules as a list.
func MarkdownRules(rules []Rule) string {
	var b strings.Builder
	for i := range rules {
		fmt.Fprintf(&b, "- %s\n", rules[i].Doc)
	}
	return b.String()
}

// cell makes text fit a table's cell.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}

func (f *Field) awsCell() string {
	switch {
	case f.Never != "" && f.AWS == "":
		return "–"
	case f.AWS == "":
		return "Sluice only"
	case strings.Contains(f.AWS, " "):
		return cell(f.AWS)
	}
	return "`" + f.AWS + "`"
}

func (f *Field) allowedCell() string {
	if f.Never != "" {
		return "refused"
	}
	t := &f.Type
	if t.Kind == KindList && t.Elem.Kind != KindObject {
		return t.Allowed() + ", each " + t.Elem.Allowed()
	}
	return t.Allowed()
}

func (f *Field) defaultCell() string {
	switch {
	case f.Required:
		return "required"
	case f.DefaultNote != "":
		return f.DefaultNote
	case f.Default == nil:
		return "–"
	}
	return "`" + f.defaultText() + "`"
}

func (f *Field) defaultText() string {
	switch v := f.Default.(type) {
	case time.Duration:
		return FormatDuration(v)
	case bool:
		if f.Type.Kind == KindSwitch {
			return map[bool]string{true: "on", false: "off"}[v]
		}
	}
	return fmt.Sprint(f.Default)
}

// meaning returns the documentation of the field with what refuses it and where its behaviour comes from.
func (f *Field) meaning() string {
	if f.Never != "" {
		return "This key " + f.Never + "."
	}
	parts := []string{f.Doc}
	for _, r := range f.RequiredWhen {
		parts = append(parts, "It is required "+r.Why+".")
	}
	for _, r := range f.Refused {
		parts = append(parts, "It "+r.Why+".")
	}
	if ny := f.NotYet; ny != nil {
		parts = append(parts, ny.sentence())
	}
	if f.Source != "" {
		parts = append(parts, "("+f.Source+".)")
	}
	return strings.Join(parts, " ")
}

// sentence says for the documentation what is not yet supported.
func (ny *NotYet) sentence() string {
	switch {
	case ny.Values != nil:
		return "**Not yet supported: " + strings.ReplaceAll(words(ny.Values), " or ", " and ") + ".**"
	case ny.Pattern != nil:
		return "**Not yet supported: " + ny.What + ".**"
	}
	return "**Not yet supported.**"
}
