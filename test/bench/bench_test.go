package main

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/test/bench/timeline"
)

func TestParseCases(t *testing.T) {
	for _, c := range []struct{ name, list, want string }{
		{"the usual ones, by size", "", "1x100B 100x100B 1x1KiB 100x1KiB 1000x1KiB 1x10KiB 100x10KiB"},
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
	e := eventSizeOf(&topic{name: "bench", partitions: 8, value: 10 << 10, records: 80_000}, []string{"127.0.0.1:9092"})
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

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", 1_234_567: "1 234 567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestParseOptions(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"an unknown benchmark", "-only latency,speed", `"speed"`},
		{"no runs", "-runs 0", "-runs"},
		{"a page without a record", "-page x.md", "-record"},
		{"a record under a profile", "-profile d -record r.json", "-profile"},
		{"an argument", "latency", `"latency"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parseOptions(strings.Fields(c.args)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("parseOptions(%s): %v, want an error that names %s", c.args, err, c.want)
			}
		})
	}
}

// What a table says of its origin repeats it, with what changes the figures and without what does not.
func TestCommandRepeatsOneBenchmark(t *testing.T) {
	args := strings.Fields("-only throughput,latency -runs 3 -record docs/bench.json --page=docs/PERFORMANCE.md -cases=1x1KiB -scale 0.5")
	o, err := parseOptions(args)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{options: o}
	for name, want := range map[string]string{
		"latency":    "go run ./test/bench -only latency -runs 3 -scale 0.5",
		"throughput": "go run ./test/bench -only throughput -runs 3 -cases=1x1KiB -scale 0.5",
	} {
		if got := b.command(name); got != want {
			t.Errorf("command = %q, want %q", got, want)
		}
	}
	if len(o.benchmarks) != 2 || o.benchmarks[0].name != "throughput" {
		t.Errorf("selected %d benchmarks", len(o.benchmarks))
	}
}
