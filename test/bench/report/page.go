package report

import (
	"bytes"
	"fmt"
	"os"
)

// SummaryPlace is the place in a page for the table of targets; a section's place has its benchmark's name.
const SummaryPlace = "targets"

// Fill puts the record's tables into a page, each between the comments «bench NAME: begin» and «bench NAME: end». A table
// without a place is an error; a place without a table stays as it is.
func Fill(page []byte, r *Record, targets []Target) ([]byte, error) {
	page, err := replace(page, SummaryPlace, Summary(r, targets))
	for i := 0; err == nil && i < len(r.Sections); i++ {
		page, err = replace(page, r.Sections[i].Bench, r.Sections[i].Markdown())
	}
	return page, err
}

func replace(page []byte, place, text string) ([]byte, error) {
	begin, end := fmt.Sprintf("<!-- bench %s: begin -->", place), fmt.Sprintf("<!-- bench %s: end -->", place)
	before, rest, ok := bytes.Cut(page, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return nil, fmt.Errorf("no %s … %s", begin, end)
	}
	return fmt.Appendf(nil, "%s%s\n%s%s%s", before, begin, text, end, after), nil
}

// FillFile is Fill for a file.
func FillFile(file string, r *Record, targets []Target) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if page, err = Fill(page, r, targets); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, page, 0o644)
}
