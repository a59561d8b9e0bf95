package report

import "fmt"

// Target is a bound that a figure is to keep.
type Target struct {
	Bench, Case, Name string
	// Bound is for what counts of the figure (its ratio, its difference, or itself): at least that where more is better,
	// at most that where less is.
	Bound float64
}

// Result is a target with what was measured.
type Result struct {
	Target
	// Figure is nil if the record has none.
	Figure  *Figure
	Section *Section
}

// Met says whether the figure keeps the bound.
func (r *Result) Met() bool {
	if r.Figure == nil {
		return false
	}
	if r.Figure.Better == More {
		return r.Figure.Counts() >= r.Bound
	}
	return r.Figure.Counts() <= r.Bound
}

// Judge says how a record does on the targets, in their order.
func Judge(r *Record, targets []Target) []Result {
	results := make([]Result, 0, len(targets))
	for _, t := range targets {
		result := Result{Target: t}
		if s := r.Find(t.Bench); s != nil {
			result.Section, result.Figure = s, s.find(key{t.Case, t.Name})
		}
		results = append(results, result)
	}
	return results
}

// What says what a target is about, in words.
func (r *Result) What() string {
	if f := r.Figure; f != nil && f.By != "" {
		return fmt.Sprintf("%s: %s beside the %s", r.Case, r.Name, f.Beside)
	}
	return fmt.Sprintf("%s: %s", r.Case, r.Name)
}
