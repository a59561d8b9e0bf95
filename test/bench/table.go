package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/dustin/go-humanize"
)

// markdown is the table with the command and the machine that made it.
func markdown(command string, machine []string, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "`%s`  \n%s.\n\n", command, strings.Join(machine, "; "))
	b.WriteString("| batch × value | records/s: loop | Sluice | ratio | MB/s: loop | Sluice " +
		"| CPU-s per million: loop | Sluice | ratio | peak RSS, MB: loop | Sluice |\n")
	b.WriteString("| :-- " + strings.Repeat("| --: ", 10) + "|\n")
	notes := ""
	for _, r := range rows {
		name := fmt.Sprintf("%s × %s", thousands(float64(r.Case.batch)), spaced(sizeName(r.Case.value)))
		if r.Batch != r.Case.batch {
			name += "¹"
			notes = fmt.Sprintf("\n¹ Lambda's 6 MiB for an event, which is the default, hold %d records.\n", r.Batch)
		}
		speedLoop, speed, speedRatio := r.medians(result.recordsPerSecond)
		bytesLoop, bytes, _ := r.medians(result.megabytesPerSecond)
		cpuLoop, cpu, cpuRatio := r.medians(result.cpuPerMillion)
		memoryLoop, memory, _ := r.medians(result.peakMegabytes)
		fmt.Fprintf(&b, "| %s | %s | %s | **%.2f** | %.0f | %.0f | %.2f | %.2f | %.2f | %.0f | %.0f |\n",
			name, thousands(speedLoop), thousands(speed), speedRatio, bytesLoop, bytes, cpuLoop, cpu, cpuRatio, memoryLoop, memory)
	}
	return b.String() + notes
}

// thousands rounds to three digits or so and groups them.
func thousands(v float64) string {
	if v >= 10_000 {
		v = float64(int64(v/100+0.5) * 100)
	}
	return strings.ReplaceAll(humanize.Comma(int64(v+0.5)), ",", " ")
}

func spaced(size string) string {
	i := strings.IndexFunc(size, func(r rune) bool { return r < '0' || r > '9' })
	return size[:i] + " " + size[i:]
}

// The comments in a page between which its table stands.
const (
	tableBegin = "<!-- bench: begin -->"
	tableEnd   = "<!-- bench: end -->"
)

// writePage replaces the table of a page.
func writePage(file, text string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	page, err = replaceTable(page, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, page, 0o644)
}

func replaceTable(page []byte, text string) ([]byte, error) {
	before, rest, ok := bytes.Cut(page, []byte(tableBegin))
	_, after, ok2 := bytes.Cut(rest, []byte(tableEnd))
	if !ok || !ok2 {
		return nil, fmt.Errorf("has no %s … %s", tableBegin, tableEnd)
	}
	return fmt.Appendf(nil, "%s%s\n%s%s%s", before, tableBegin, text, tableEnd, after), nil
}
