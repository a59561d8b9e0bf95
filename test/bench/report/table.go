package report

import (
	"fmt"
	"slices"
	"strings"
)

// Summary is the table of all targets, with met or missed.
func Summary(r *Record, targets []Target) string {
	results := Judge(r, targets)
	missed, absent := 0, 0
	var rows strings.Builder
	for i := range results {
		t := &results[i]
		if t.Figure == nil {
			absent++
			fmt.Fprintf(&rows, "| %s | %s | | not measured | `-only %s` |\n", t.What(), Number(t.Bound), t.Bench)
			continue
		}
		judgement := "met"
		if !t.Met() {
			judgement = "**missed**"
			missed++
		}
		fmt.Fprintf(&rows, "| %s | %s %s | %s | %s | `-only %s` |\n", t.What(), limit(t.Figure.Better), t.Figure.withUnit(t.Bound),
			t.Figure.withUnit(t.Figure.Counts()), judgement, t.Bench)
	}
	head := fmt.Sprintf("%d targets: %d met, %d missed", len(results), len(results)-missed-absent, missed)
	if absent > 0 {
		head += fmt.Sprintf(", %d not measured", absent)
	}
	return head + ".\n\n| what | target | measured | | `go run ./test/bench` |\n| :-- | :-- | --: | :-- | :-- |\n" + rows.String()
}

func limit(b Better) string {
	if b == More {
		return "at least"
	}
	return "at most"
}

// Markdown is a section's table, with the command that makes it and where it comes from.
func (s *Section) Markdown() string {
	var b strings.Builder
	origin := s.Date + "; " + s.Machine + "; commit " + s.Commit
	if s.Load != "" {
		origin += "; load average before the run " + s.Load
	}
	fmt.Fprintf(&b, "`%s`  \n%s.\n", s.Command, origin)
	if s.Setup != "" {
		fmt.Fprintf(&b, "%s\n", s.Setup)
	}
	b.WriteString("\n")
	if names := s.columns(); names != nil {
		s.wide(&b, names)
	} else {
		s.tall(&b)
	}
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	return b.String()
}

// columns are the names that every case has; nil if the cases differ, or there is only one.
func (s *Section) columns() []string {
	var cases, names []string
	for i := range s.Figures {
		if !slices.Contains(cases, s.Figures[i].Case) {
			cases = append(cases, s.Figures[i].Case)
		}
		if !slices.Contains(names, s.Figures[i].Name) {
			names = append(names, s.Figures[i].Name)
		}
	}
	if len(cases) < 2 || len(cases)*len(names) != len(s.Figures) {
		return nil
	}
	return names
}

// wide has a row for each case.
func (s *Section) wide(b *strings.Builder, names []string) {
	head, rule := "| ", "| :-- "
	first := s.Figures[0].Case
	for _, name := range names {
		f := s.find(key{first, name})
		title := name
		if f.Unit != "" {
			title += ", " + f.Unit
		}
		if f.By != "" {
			head += fmt.Sprintf("| %s: %s | Sluice | %s ", title, f.Beside, f.By)
			rule += "| --: | --: | --: "
		} else if f.Beside != "" {
			head += fmt.Sprintf("| %s: %s | Sluice ", title, f.Beside)
			rule += "| --: | --: "
		} else {
			head += "| " + title + " "
			rule += "| --: "
		}
	}
	fmt.Fprintf(b, "%s|\n%s|\n", head, rule)
	done := map[string]bool{}
	for i := range s.Figures {
		c := s.Figures[i].Case
		if done[c] {
			continue
		}
		done[c] = true
		fmt.Fprintf(b, "| %s ", c)
		for _, name := range names {
			f := s.find(key{c, name})
			if f.By != "" {
				fmt.Fprintf(b, "| %s | %s | **%s** ", Number(f.Other()), Number(f.Value()), f.shown(f.Counts()))
			} else if f.Beside != "" {
				fmt.Fprintf(b, "| %s | %s ", Number(f.Other()), Number(f.Value()))
			} else {
				fmt.Fprintf(b, "| %s ", Number(f.Value()))
			}
		}
		b.WriteString("|\n")
	}
}

// tall has a row for each figure.
func (s *Section) tall(b *strings.Builder) {
	beside := s.beside()
	if beside == "" {
		b.WriteString("| | | Sluice |\n| :-- | :-- | --: |\n")
	} else {
		fmt.Fprintf(b, "| | | %s | Sluice | |\n| :-- | :-- | --: | --: | --: |\n", beside)
	}
	last := ""
	for i := range s.Figures {
		f := &s.Figures[i]
		c, title := f.Case, f.Name
		if c == last {
			c = ""
		}
		last = f.Case
		if f.Unit != "" {
			title += ", " + f.Unit
		}
		switch {
		case f.By != "":
			fmt.Fprintf(b, "| %s | %s | %s | %s | **%s** |\n", c, title, Number(f.Other()), Number(f.Value()), f.shown(f.Counts()))
		case f.Beside != "":
			fmt.Fprintf(b, "| %s | %s | %s | **%s** | |\n", c, title, Number(f.Other()), Number(f.Value()))
		case beside != "":
			fmt.Fprintf(b, "| %s | %s | | **%s** | |\n", c, title, Number(f.Value()))
		default:
			fmt.Fprintf(b, "| %s | %s | **%s** |\n", c, title, Number(f.Value()))
		}
	}
}

// beside is what most of the section stands beside: the column's title.
func (s *Section) beside() string {
	for i := range s.Figures {
		if s.Figures[i].Beside != "" {
			return s.Figures[i].Beside
		}
	}
	return ""
}
