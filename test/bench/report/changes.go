package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// The escape sequences of a terminal.
const (
	red   = "\033[31m"
	green = "\033[32m"
	plain = "\033[0m"
)

// PrintChanges writes changes as a table for people, with the heading of each kind, and marks what is beyond the noise:
// by words, and where colour is set by colour. It returns how many failed the threshold.
func PrintChanges(w io.Writer, changes []Change, threshold float64, colour bool) (failed int) {
	last := -1
	var table strings.Builder
	tab := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for i := range changes {
		c := &changes[i]
		if rank(c.Old) != last {
			last = rank(c.Old)
			fmt.Fprintf(tab, "%s\t\t\t\t\t\n", headings[last])
		}
		verdict := "within the noise"
		switch {
		case c.Failed(threshold):
			failed++
			verdict = fmt.Sprintf("WORSE by %.0f %%, more than %.0f %%", 100*c.Worse, 100*threshold)
		case c.Slower():
			verdict = "worse" + share(c.Worse)
		case c.Faster():
			verdict = "better" + share(-c.Worse)
		}
		fmt.Fprintf(tab, "  %s\t%s\t%s\t%s\t→ %s\t%s\n", c.Bench, c.Old.Case, c.Old.Name,
			spread(c.Old), spread(c.New), verdict)
	}
	_ = tab.Flush() // into memory
	for line := range strings.Lines(table.String()) {
		_, _ = io.WriteString(w, painted(line, colour))
	}
	return failed
}

var headings = []string{
	"Ratios (what counts)", "Differences", "Figures of this machine alone (for information)",
}

func share(by float64) string {
	if by == 0 {
		return ""
	}
	return fmt.Sprintf(" by %.0f %%", 100*by)
}

// spread is the figure with the least and the most of its runs.
func spread(f *Figure) string {
	least, most := f.Range()
	if least == most {
		return f.withUnit(f.Counts())
	}
	return fmt.Sprintf("%s (%s to %s)", f.withUnit(f.Counts()), f.shown(least), f.shown(most))
}

func painted(line string, colour bool) string {
	words := strings.TrimRight(line, " \n")
	switch {
	case !colour:
	case strings.Contains(words, "  worse") || strings.Contains(words, "  WORSE"):
		return red + words + plain + "\n"
	case strings.Contains(words, "  better"):
		return green + words + plain + "\n"
	}
	return words + "\n"
}
