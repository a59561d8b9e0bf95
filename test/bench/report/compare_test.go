package report

import (
	"strings"
	"testing"
)

func ratios(better Better, values ...float64) *Figure {
	others := make([]float64, len(values))
	for i := range others {
		others[i] = 1
	}
	return &Figure{Case: "c", Name: "n", Better: better, Beside: "loop", By: Ratio, Values: values, Others: others}
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		name           string
		old, now       *Figure
		slower, faster bool
		failed         bool // at 10 %
	}{
		{"less speed, every run below every run before", ratios(More, 0.9, 0.91, 0.92), ratios(More, 0.7, 0.71, 0.72), true, false, true},
		{"less by less than the threshold", ratios(More, 0.9, 0.91, 0.92), ratios(More, 0.85, 0.86, 0.87), true, false, false},
		{"less, but one run was as good as before: noise", ratios(More, 0.9, 0.91, 0.92), ratios(More, 0.7, 0.71, 0.9), false, false, false},
		{"more speed", ratios(More, 0.7, 0.71), ratios(More, 0.9, 0.91), false, true, false},
		{"more CPU is worse", ratios(Less, 1.1, 1.12), ratios(Less, 1.3, 1.4), true, false, true},
		{"less CPU is better", ratios(Less, 1.3, 1.4), ratios(Less, 1.1, 1.12), false, true, false},
		{"the same", ratios(More, 0.9), ratios(More, 0.9), false, false, false},
		{
			"a difference has no share to fail by",
			&Figure{Better: Less, By: Difference, Values: []float64{1}, Others: []float64{0.9}},
			&Figure{Better: Less, By: Difference, Values: []float64{9}, Others: []float64{0.9}},
			true, false, false,
		},
		{
			"what stands alone does not fail",
			&Figure{Better: Less, Values: []float64{10}}, &Figure{Better: Less, Values: []float64{20}}, true, false, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := change("b", c.old, c.now)
			if got.Slower() != c.slower || got.Faster() != c.faster || got.Failed(0.10) != c.failed {
				t.Errorf("slower %v, faster %v, failed %v (worse by %.3f)", got.Slower(), got.Faster(), got.Failed(0.10), got.Worse)
			}
		})
	}
}

func TestCompareAndPrint(t *testing.T) {
	old, now := example(), example()
	now.Sections[0].Figures[0].Values = []float64{30_000, 33_000}
	now.Sections[0].Figures[3].Values = []float64{1}
	now.Sections[1].Figures[1].Values = []float64{4}
	old.Put(Section{Bench: "gone", Figures: []Figure{{Case: "x", Name: "y", Values: []float64{1}}}})
	changes := Compare(old, now)
	if len(changes) != 6 || changes[0].Bench != "throughput" || changes[4].Old.Name != "heap" || changes[5].Old.Name != "connections" {
		t.Fatalf("changes %+v", changes)
	}
	var text strings.Builder
	if failed := PrintChanges(&text, changes, 0.10, false); failed != 1 {
		t.Errorf("%d failed, want 1", failed)
	}
	for _, want := range []string{
		"Ratios (what counts)\n", "0.84 (0.80 to 0.88)", "→ 0.42 (0.40 to 0.44)", "WORSE by 50 %, more than 10 %\n", "better by 50 %\n",
		"within the noise\n", "Figures of this machine alone (for information)\n", "worse by 33 %\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
	var painted strings.Builder
	PrintChanges(&painted, changes, 0.10, true)
	if strings.Count(painted.String(), red) != 2 || strings.Count(painted.String(), green) != 1 {
		t.Errorf("colours:\n%q", painted.String())
	}
}
