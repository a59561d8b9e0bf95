package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/test/bench/report"
)

// encodings are the cases: names in invoke's own benchmarks, and here.
var encodings = []struct{ value, headers, title string }{
	{"100", "none", "100 B, no headers"},
	{"1024", "none", "1 KiB, no headers"},
	{"1024", "traceparent", "1 KiB, a traceparent header"},
	{"10240", "none", "10 KiB, no headers"},
}

// encoding runs the benchmarks of package invoke: what it takes to write a record into an event, beside base64 alone of the
// same values.
func (b *bench) encoding(ctx context.Context) (report.Section, error) {
	s := report.Section{Setup: "Events of 100 records over 4 partitions, as `go test -bench 'Append|BareBase64' ./invoke` does it."}
	program := filepath.Join(b.dir, "invoke.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./invoke")
	build.Dir = b.root
	if out, err := build.CombinedOutput(); err != nil {
		return s, fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	times, allocations := make([]report.Figure, len(encodings)), make([]report.Figure, len(encodings))
	for i, e := range encodings {
		times[i] = report.Figure{Case: e.title, Name: "ns per record", Better: report.Less, Beside: "base64 alone", By: report.Ratio}
		allocations[i] = alone(e.title, "allocations per event", "", report.Less)
	}
	each := min(time.Duration(b.scale*float64(time.Second)/2), time.Second/2)
	for n := range b.runs {
		b.progress.now("encoding, %d/%d", n+1, b.runs)
		out, err := exec.CommandContext(ctx, program, "-test.run", "^$", "-test.bench", "^Benchmark(Append|BareBase64)$",
			"-test.benchtime", each.String()).CombinedOutput()
		if err != nil {
			return s, fmt.Errorf("the benchmarks of invoke: %w\n%s", err, tail(string(out), 20))
		}
		lines := readBenchmarks(out)
		for i, e := range encodings {
			own := lines["BenchmarkAppend/value="+e.value+"/headers="+e.headers]
			bare := lines["BenchmarkBareBase64/value="+e.value]
			if own == nil || bare == nil {
				return s, fmt.Errorf("the benchmarks of invoke have no %s:\n%s", e.title, tail(string(out), 20))
			}
			add(&times[i], own["ns/record"], bare["ns/record"])
			allocations[i].Values = append(allocations[i].Values, own["allocs/op"])
		}
	}
	for i := range encodings {
		f := &times[i]
		b.progress.done("%-28s %.0f ns, base64 alone %.0f ns: %.2f", f.Case, f.Value(), f.Other(), f.Counts())
		s.Figures = append(s.Figures, times[i], allocations[i])
	}
	return s, nil
}

// readBenchmarks reads what go test -bench prints: by the benchmark's name without the number of CPUs, each figure by its
// unit.
func readBenchmarks(text []byte) map[string]map[string]float64 {
	all := map[string]map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := words[0]
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			if _, err := strconv.Atoi(name[i+1:]); err == nil {
				name = name[:i]
			}
		}
		figures := map[string]float64{}
		for i := 2; i+1 < len(words); i += 2 {
			if v, err := strconv.ParseFloat(words[i], 64); err == nil {
				figures[words[i+1]] = v
			}
		}
		all[name] = figures
	}
	return all
}
