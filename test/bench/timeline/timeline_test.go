package timeline

import (
	"testing"
	"time"
)

const ms = time.Millisecond

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		name string
		line Timeline
		want time.Duration // 0: an error
	}{
		{"an even flow is measured over nine tenths of it", Timeline{{0, 0, 0}, {1000 * ms, 10, 1000}}, 900 * ms},
		{
			"the time before the first body and after the last does not count",
			Timeline{{0, 0, 0}, {5000 * ms, 0, 0}, {6000 * ms, 10, 1000}, {9000 * ms, 10, 1000}},
			900 * ms,
		},
		{
			"a slow tail beyond 95 % does not count",
			Timeline{{0, 0, 0}, {950 * ms, 9, 950}, {7000 * ms, 10, 1000}},
			900 * ms,
		},
		{
			"a pause in the middle counts",
			Timeline{{0, 0, 0}, {500 * ms, 5, 500}, {1500 * ms, 5, 500}, {2000 * ms, 10, 1000}},
			1900 * ms,
		},
		{"nothing came", Timeline{{0, 0, 0}, {1000 * ms, 0, 0}}, 0},
		{"no samples", nil, 0},
		{"everything came before the first sample", Timeline{{10 * ms, 10, 1000}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.line.Span()
			if (err != nil) != (c.want == 0) || got != c.want {
				t.Errorf("Span() = %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestFirst(t *testing.T) {
	line := Timeline{{0, 0, 0}, {10 * ms, 0, 0}, {20 * ms, 1, 100}, {30 * ms, 2, 200}}
	if got := line.First(); got != 20*ms {
		t.Errorf("First() = %v, want 20ms", got)
	}
	if got := (Timeline{{0, 0, 0}}).First(); got != 0 {
		t.Errorf("First() of nothing = %v, want 0", got)
	}
}
