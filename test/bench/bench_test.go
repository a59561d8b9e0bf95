package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/bench/timeline"
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
			if got := median(c.values); got != c.want {
				t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
			}
			if !slices.Equal(before, c.values) {
				t.Errorf("median changed its argument to %v", c.values)
			}
		})
	}
}

// The second pair ran while the machine was busy: each had half the speed. The ratio of a pair does not see that, the
// ratio of the medians would.
func TestRatioIsTakenWithinPairs(t *testing.T) {
	at := func(speed float64) result { return result{RecordsPerSecond: speed} }
	r := row{Pairs: []pair{{at(100), at(80)}, {at(50), at(40)}, {at(100), at(80)}, {at(90), at(40)}}}
	loop, sluice, ratio := r.medians(result.recordsPerSecond)
	if loop != 95 || sluice != 60 || math.Abs(ratio-0.8) > 1e-9 {
		t.Errorf("medians = %v, %v, %v; want 95, 60, 0.8", loop, sluice, ratio)
	}
}

func TestFigures(t *testing.T) {
	r := result{
		Records: 2_000_000, Payload: 2_000_000 * 1032, Span: 9 * time.Second, CPU: 5 * time.Second, PeakRSS: 123_000_000,
		Requests: 20_000,
	}.withSpeed(0.9)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"records a second are the measured share over its time", r.recordsPerSecond(), 200_000},
		{"megabytes are of keys and values", r.megabytesPerSecond(), 206.4},
		{"CPU is for a million records, of the whole run", r.cpuPerMillion(), 2.5},
		{"memory is in 10⁶ bytes", r.peakMegabytes(), 123},
		{"records of a batch", r.meanBatch(), 100},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestParseCases(t *testing.T) {
	for _, c := range []struct{ name, list, want string }{
		{"all nine, by size", "", "1x100B 100x100B 1000x100B 1x1KiB 100x1KiB 1000x1KiB 1x10KiB 100x10KiB 1000x10KiB"},
		{"one", "100x1KiB", "100x1KiB"},
		{"some, sorted, without regard to case, once each", "1000x10kib, 1x100b,1x100b", "1x100B 1000x10KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cases, err := parseCases(c.list)
			var names []string
			for _, bc := range cases {
				names = append(names, bc.String())
			}
			if got := strings.Join(names, " "); err != nil || got != c.want {
				t.Errorf("parseCases(%q) = %s, %v; want %s", c.list, got, err, c.want)
			}
		})
	}
	for _, bad := range []string{"7x1KiB", "100", "100x2KiB", "x"} {
		if _, err := parseCases(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("parseCases(%q): %v, want an error that names it", bad, err)
		}
	}
}

func TestNoPartitionEndsInAPartOfABatch(t *testing.T) {
	cases, err := parseCases("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for _, scale := range []float64{0.0001, 0.3, 1, 7.7} {
			if n := c.scaled(scale); n <= 0 || n%(partitions*int64(c.batch)) != 0 {
				t.Errorf("%v has %d records at scale %v", c, n, scale)
			}
		}
	}
}

func TestEventSize(t *testing.T) {
	c := benchCase{batch: 1000, value: 10 << 10}
	e := eventSizeOf(c, []string{"127.0.0.1:9092"}, "bench", 80_000)
	if got := e.fit(1000); got < 440 || got > 460 {
		t.Errorf("%d records of 10 KiB fit into 6 MiB; base64 alone would let 460", got)
	}
	if got := e.fit(100); got != 100 {
		t.Errorf("fit(100) = %d", got)
	}
	const calls = 800
	all := 80_000*(e.first+e.last)/2 + calls*e.frame
	for _, c := range []struct {
		name  string
		bytes int64
		ok    bool
	}{
		{"all records once", all, true},
		{"a hundredth missing", all - all/100, false},
		{"a hundredth twice", all + all/100, false},
	} {
		if err := e.check(timeline.Sample{Requests: calls, Bytes: c.bytes}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestMarkdown(t *testing.T) {
	r := func(speed float64, cpu time.Duration) result {
		return result{
			Records: 1_000_000, Payload: 1_032_000_000, RecordsPerSecond: speed, CPU: cpu, PeakRSS: 100_000_000,
		}
	}
	got := markdown("go run ./test/bench", []string{"2026-01-02", "2 × CPU"}, []row{
		{benchCase{100, 1 << 10}, 100, []pair{{r(612_345, 1800*time.Millisecond), r(551_110, 2160*time.Millisecond)}}},
		{benchCase{1000, 10 << 10}, 458, []pair{{r(9_999, time.Second), r(9_999, time.Second)}}},
	})
	for _, want := range []string{
		"`go run ./test/bench`  \n2026-01-02; 2 × CPU.\n",
		"| 100 × 1 KiB | 612 300 | 551 100 | **0.90** | 632 | 569 | 1.80 | 2.16 | 1.20 | 100 | 100 |\n",
		"| 1 000 × 10 KiB¹ | 9 999 |",
		"¹ Lambda's 6 MiB for an event, which is the default, hold 458 records.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

func TestReplaceTable(t *testing.T) {
	page := "# Title\n" + tableBegin + "\nold\n" + tableEnd + "\nrest\n"
	got, err := replaceTable([]byte(page), "new\n")
	if want := "# Title\n" + tableBegin + "\nnew\n" + tableEnd + "\nrest\n"; err != nil || string(got) != want {
		t.Errorf("replaceTable = %q, %v; want %q", got, err, want)
	}
	if _, err := replaceTable([]byte("# Title\n"), "new\n"); err == nil {
		t.Error("a page without the comments was taken")
	}
}
