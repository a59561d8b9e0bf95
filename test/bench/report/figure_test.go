package report

import (
	"math"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   float64
	}{
		{"of none is 0", nil, 0},
		{"of one is itself", []float64{3}, 3},
		{"of three is the one in the middle, in whatever order", []float64{9, 1, 2}, 2},
		{"of four is the mean of the two in the middle", []float64{10, 1, 2, 4}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.values)
			if got := Median(c.values); got != c.want {
				t.Errorf("Median(%v) = %v, want %v", c.values, got, c.want)
			}
			if !slices.Equal(before, c.values) {
				t.Errorf("Median changed its argument to %v", c.values)
			}
		})
	}
}

// The second pair ran while the machine was busy: each had half the speed. The ratio of a pair does not see that, the
// ratio of the medians would.
func TestComparedWithinPairs(t *testing.T) {
	speed := Figure{By: Ratio, Values: []float64{80, 40, 80, 40}, Others: []float64{100, 50, 100, 90}}
	if speed.Other() != 95 || speed.Value() != 60 || math.Abs(speed.Counts()-0.8) > 1e-9 {
		t.Errorf("medians = %v, %v, %v; want 95, 60, 0.8", speed.Other(), speed.Value(), speed.Counts())
	}
	if least, most := speed.Range(); math.Abs(least-4./9) > 1e-9 || most != 0.8 {
		t.Errorf("range %v to %v", least, most)
	}
	late := Figure{By: Difference, Values: []float64{1, 5, 2}, Others: []float64{0.5, 4, 2.5}}
	if late.Counts() != 0.5 {
		t.Errorf("difference %v, want 0.5", late.Counts())
	}
	lone := Figure{Values: []float64{3, 1, 2}}
	if lone.Counts() != 2 {
		t.Errorf("alone it counts %v, want 2", lone.Counts())
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 3: "3", 0.123: "0.12", -0.5: "-0.50", 9.999: "10.0", 42.25: "42.2", 123.4: "123", 1234.4: "1 234", 123_456: "123 500", 20: "20",
	} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
}
