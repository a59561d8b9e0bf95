package filter

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// TestTheDocumentedExamples runs every example of docs/FILTERS.md.
func TestTheDocumentedExamples(t *testing.T) {
	file, err := os.Open("../docs/FILTERS.md")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var compiled *Filter
	var pattern string
	inside, examples := false, 0
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "```"):
			inside, compiled = line == "```filter", nil
			continue
		case !inside:
			continue
		}
		examples++
		if refused, ok := strings.CutPrefix(line, "refused "); ok {
			if _, err := Compile(refused); err == nil {
				t.Errorf("line %d: %s is not refused", n, refused)
			}
			continue
		}
		if compiled == nil {
			pattern = line
			if compiled, err = Compile(pattern); err != nil {
				t.Fatalf("line %d: %v", n, err)
			}
			continue
		}
		answer, event, _ := strings.Cut(line, " ")
		match, ok := compiled.MatchDocument([]byte(strings.TrimSpace(event)))
		if !ok || match != (answer == "yes") || answer != "yes" && answer != "no" {
			t.Errorf("line %d: %s, %s: match %v (JSON: %v), and the page says %s", n, pattern, event, match, ok, answer)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if examples < 100 {
		t.Errorf("only %d lines of examples", examples)
	}
}
