package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// Number prints three digits or so, thousands grouped.
func Number(v float64) string {
	size := math.Abs(v)
	switch {
	case v == math.Trunc(v) && size < 10_000:
		return grouped(v)
	case size >= 10_000:
		return grouped(math.Round(v/100) * 100)
	case size >= 100:
		return grouped(math.Round(v))
	case size >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func grouped(v float64) string { return strings.ReplaceAll(humanize.Comma(int64(v)), ",", " ") }

// shown prints what counts of a figure.
func (f *Figure) shown(v float64) string {
	switch f.By {
	case Ratio:
		return fmt.Sprintf("%.2f", v)
	case Difference:
		return fmt.Sprintf("%+.2f", v)
	}
	return Number(v)
}

// withUnit prints it with its unit.
func (f *Figure) withUnit(v float64) string {
	if f.Unit == "" || f.By == Ratio {
		return f.shown(v)
	}
	return f.shown(v) + " " + f.Unit
}
