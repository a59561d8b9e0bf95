// Package report is what becomes of measurements: the record that is kept, the targets that figures are held to, the
// tables of docs/PERFORMANCE.md, and the comparison of two records. It measures nothing.
package report

import (
	"slices"
)

// By is how two subjects that were measured side by side are compared.
type By string

// The ways to compare. A figure without another beside it has none.
const (
	Ratio      By = "ratio"      // value ÷ other
	Difference By = "difference" // value − other
)

// Better says which way a figure improves.
type Better string

// The two ways.
const (
	More Better = "more"
	Less Better = "less"
)

// Figure is one thing that was measured, once or in several runs. Case and Name identify it within its benchmark.
type Figure struct {
	// Case is the row, such as «100 × 1 KiB»; Name is what was measured, such as «records/s»; Unit may be empty.
	Case string `json:"case"`
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	// Better is the way it improves.
	Better Better `json:"better"`
	// Beside names what was measured by turns with it («loop»), and By is how the two are compared: empty where the other
	// stands there for orientation. Both are empty for a figure that stands alone.
	Beside string `json:"beside,omitempty"`
	By     By     `json:"by,omitempty"`
	// Values are those of the runs, Others those of what was beside, pair by pair.
	Values []float64 `json:"values"`
	Others []float64 `json:"others,omitempty"`
}

// Compared is what counts of each run: within its pair, so that what disturbs the machine for a while disturbs both.
func (f *Figure) Compared() []float64 {
	compared := slices.Clone(f.Values)
	for i := range compared {
		switch {
		case i >= len(f.Others):
		case f.By == Ratio:
			compared[i] /= f.Others[i]
		case f.By == Difference:
			compared[i] -= f.Others[i]
		}
	}
	return compared
}

// Value is the median of the runs; Other that of what was beside.
func (f *Figure) Value() float64 { return Median(f.Values) }

// Other is the median of what was measured beside it; 0 if nothing was.
func (f *Figure) Other() float64 { return Median(f.Others) }

// Counts is the figure that targets and comparisons go by: the median of what was compared within pairs, or of the
// values where nothing is beside.
func (f *Figure) Counts() float64 { return Median(f.Compared()) }

// Range is the least and the most of what counts: how far the runs were apart.
func (f *Figure) Range() (least, most float64) {
	compared := f.Compared()
	if len(compared) == 0 {
		return 0, 0
	}
	return slices.Min(compared), slices.Max(compared)
}

// key identifies a figure within its benchmark.
type key struct{ Case, Name string }

func (f *Figure) key() key { return key{f.Case, f.Name} }

// Median of an even number of values is the mean of the two in the middle; 0 of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}
