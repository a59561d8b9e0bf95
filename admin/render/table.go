package render

import (
	"strings"
	"unicode/utf8"
)

// table aligns columns, some of them to the right, which text/tabwriter does for all columns or none. Rows may have
// different lengths; nothing is padded at the end of a line.
type table struct {
	indent int
	right  map[int]bool // columns of numbers
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// rest says how many partitions are not listed, of so many.
func (t *table) rest(all int) {
	if more := all - len(t.rows); more > 0 {
		t.add("and " + counted(more, "partition") + " more")
	}
}

// String returns the table, with a line end after each row.
func (t *table) String() string {
	widths := t.widths()
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		line.WriteString(strings.Repeat(" ", t.indent))
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
			if t.right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// widths are those of the columns. The last cell of a row widens none: it may be a sentence.
func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 || t.right[i] {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	return widths
}
