package report

import (
	"os"
	"testing"
)

// TestUpToDatePerformance holds the tables of docs/PERFORMANCE.md against the record; «go run ./test/bench -render» writes
// them.
func TestUpToDatePerformance(t *testing.T) {
	const record, file = "../../../docs/bench.json", "../../../docs/PERFORMANCE.md"
	r, err := Load(record)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Fill(page, r, Targets)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(page) {
		t.Error("docs/PERFORMANCE.md is stale; run: go run ./test/bench -render -record docs/bench.json -page docs/PERFORMANCE.md")
	}
}
