//go:build real

package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/ledger"
)

// soakRow is a line of the table of soak runs.
type soakRow struct {
	run, what string
	twice     string // "7 of 100"; the number alone if empty
	took      time.Duration
}

// soakWrite names the page whose table gets the results of soak runs: `make soak WRITE=1`.
const soakWrite = "SLUICE_SOAK_WRITE"

// The table stands between these lines.
const (
	soakBegin = "<!-- soak: begin -->\n"
	soakEnd   = "<!-- soak: end -->"
	soakHead  = "| run | date | Kafka | what happened | lost | out of order | taken twice | dead letters | took |\n" +
		"| --- | --- | --- | --- | --: | --: | --: | --: | --: |\n"
)

// result tells how a run ended and, if the environment says so and all is well, writes it on the page.
func result(t *testing.T, c *kafkatest.Cluster, row soakRow, r ledger.Report) {
	t.Helper()
	if row.twice == "" {
		row.twice = humanize.Comma(r.Duplicates)
	}
	line := fmt.Sprintf("| %s | %s | %s | %s | %d | %d | %s | %d | %s |\n", row.run, time.Now().Format(time.DateOnly), c.Version(),
		row.what, r.Lost, r.Violations, row.twice, r.DeadLettered, row.took.Round(time.Second))
	t.Logf("result:\n%s%s", soakHead, line)
	page := os.Getenv(soakWrite)
	if page == "" || t.Failed() {
		return
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := enter(string(text), row.run, line)
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	if err := os.WriteFile(page, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

// enter puts a line into the page's table, in the place of the run's earlier one.
func enter(page, run, line string) (string, error) {
	before, rest, ok := strings.Cut(page, soakBegin)
	table, after, ok2 := strings.Cut(rest, soakEnd)
	if !ok || !ok2 {
		return "", fmt.Errorf("the page has no %q with %q behind it", soakBegin, soakEnd)
	}
	var lines []string
	for l := range strings.Lines(table) {
		if strings.HasPrefix(l, "| ") && !strings.HasPrefix(l, "| run ") && !strings.HasPrefix(l, "| ---") && !strings.HasPrefix(l, "| "+run+" |") {
			lines = append(lines, l)
		}
	}
	lines = append(lines, line)
	slices.Sort(lines)
	return before + soakBegin + soakHead + strings.Join(lines, "") + soakEnd + after, nil
}
