package invoke

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/record"
)

func TestBatchID(t *testing.T) {
	a, b, c := at("orders", 0, 1, 0), at("orders", 0, 2, 0), at("orders", 1, 1, 0)
	base := BatchID("m", []record.Run{run(a, b), run(c)})
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(base) {
		t.Errorf("id %q is not 32 hex digits", base)
	}
	// Pinned: an id must not change with a version of Sluice while a batch is being retried.
	if want := "d1eaf892e00c502a92fdd63dd8b06167"; base != want {
		t.Errorf("id %s, want %s", base, want)
	}
	for name, runs := range map[string][]record.Run{
		"other order of partitions": {run(c), run(a, b)},
		"other runs":                {run(a), run(b), run(c)},
	} {
		if got := BatchID("m", runs); got != base {
			t.Errorf("%s: id %s, want %s", name, got, base)
		}
	}
	for name, got := range map[string]string{
		"other mapping":      BatchID("n", []record.Run{run(a, b), run(c)}),
		"a record less":      BatchID("m", []record.Run{run(a), run(c)}),
		"other partition":    BatchID("m", []record.Run{run(a, b), run(at("orders", 2, 1, 0))}),
		"other topic":        BatchID("m", []record.Run{run(a, b), run(at("order", 1, 1, 0))}),
		"no records":         BatchID("m", nil),
		"partitions swapped": BatchID("m", []record.Run{run(at("orders", 1, 1, 0), at("orders", 1, 2, 0)), run(at("orders", 0, 1, 0))}),
	} {
		if got == base {
			t.Errorf("%s: the same id", name)
		}
	}
}

// TestBatchIDsDiffer looks for equal ids among small batches of neighbouring offsets, where a weak sum would collide.
func TestBatchIDsDiffer(t *testing.T) {
	seen := map[string][]int64{}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50000 {
		var offsets []int64
		for range 1 + rng.IntN(4) {
			offsets = append(offsets, rng.Int64N(64))
		}
		slices.Sort(offsets)
		offsets = slices.Compact(offsets)
		var recs []*record.Record
		for _, o := range offsets {
			recs = append(recs, at("t", 0, o, 0))
		}
		id := BatchID("m", []record.Run{run(recs...)})
		if before, ok := seen[id]; ok && !slices.Equal(before, offsets) {
			t.Fatalf("%v and %v have the id %s", before, offsets, id)
		}
		seen[id] = offsets
	}
}

func BenchmarkBatchID(b *testing.B) {
	var recs []*record.Record
	for i := range 100 {
		recs = append(recs, at("orders", 0, int64(i), 0))
	}
	for name, runs := range map[string][]record.Run{"1": {run(recs[0])}, "100": {run(recs...)}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				BatchID("orders", runs)
			}
		})
	}
}
