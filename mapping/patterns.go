package mapping

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/filter"
	"github.com/sluicehq/sluice/mapping/field"
)

// PatternError is something wrong with a filter pattern of a mapping.
type PatternError struct {
	field.Violation
	Place field.Place
}

// Rule is the filter's word for it.
func (f FilterMismatch) Rule() filter.Mismatch {
	if f == FilterMismatchDrop {
		return filter.MismatchDrop
	}
	return filter.MismatchPass
}

func patternsCompile(m *field.Node, _ field.Context) []field.Violation {
	var found []field.Violation
	for _, e := range wrongPatterns(m, filter.Rules{}) {
		found = append(found, e.Violation)
	}
	return found
}

// StrictFilters returns what a mapping's filter patterns have that Lambda's own table of operators leaves out
// (server.compatibility.strictFilters).
func StrictFilters(m *field.Node) []PatternError {
	if len(wrongPatterns(m, filter.Rules{})) > 0 {
		return nil // that is said already
	}
	return wrongPatterns(m, filter.Rules{Strict: true})
}

// wrongPatterns compiles the patterns of a mapping, each alone.
func wrongPatterns(m *field.Node, rules filter.Rules) []PatternError {
	filters := m.At("filterCriteria.filters")
	if filters == nil {
		return nil
	}
	var found []PatternError
	for i, f := range filters.Items {
		pattern := f.At("pattern")
		if pattern == nil {
			continue
		}
		add := func(message string) {
			path := fmt.Sprintf("filterCriteria.filters[%d].pattern", i)
			found = append(found, PatternError{field.Violation{Path: path, Message: message}, pattern.Place})
		}
		text, failure := patternText(pattern)
		if failure != "" {
			add(failure)
			continue
		}
		_, err := rules.Compile(text)
		var errs filter.Errors
		if errors.As(err, &errs) {
			for _, e := range errs {
				if fromOutside(pattern) {
					e = filter.Error{Column: e.Column, Message: "the pattern does not compile; why is not shown, as part of it comes from outside the file"}
				}
				add(placed(e))
			}
		}
	}
	return found
}

// placed is a pattern's error with its place inside the pattern.
func placed(e filter.Error) string {
	var place []string
	if e.Path != "" {
		place = append(place, e.Path)
	}
	if e.Column > 0 {
		place = append(place, fmt.Sprintf("column %d of its JSON", e.Column))
	}
	if len(place) == 0 {
		return e.Message
	}
	return strings.Join(place, ", ") + ": " + e.Message
}

// fromOutside says whether part of a value comes from the environment or a file, which no message shows.
func fromOutside(n *field.Node) bool {
	if n.Reference != "" {
		return true
	}
	return slices.ContainsFunc(n.Items, fromOutside) ||
		slices.ContainsFunc(n.Members, func(m field.Member) bool { return fromOutside(m.Value) })
}
