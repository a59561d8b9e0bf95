package scaling

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("update", false, "rewrite testdata/*.txt")

// TestTranscripts plays testdata/*.txt: a model of a mapping, second by second, and every change of the count with its
// reason. Commands:
//
//	options min=1 max=10 slots=5 bytes=5000000 target=1m stream
//	model arrive=100 slot=50 size=1000 partitions=12 working=0 lag=+5000 failing=no idle=no invalid="..."
//	run 30s
//
// The outcome stands below ---- and ends with an empty line.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { play(t, file) })
	}
}

func play(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{model: model{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}}
	var out strings.Builder
	inOutcome := false
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "----":
			inOutcome = true
			fmt.Fprintf(&out, "----\n%s", s.said.String())
			s.said.Reset()
		case inOutcome && line != "":
		case inOutcome || line == "" || strings.HasPrefix(line, "#"):
			inOutcome = false
			fmt.Fprintln(&out, line)
		default:
			fmt.Fprintln(&out, line)
			s.command(t, line)
		}
	}
	got := out.String()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(text) {
		t.Errorf("%s: the outcome differs; got:\n%s", file, got)
	}
}

type story struct {
	model  model
	o      Options
	scaler *Scaler
	said   strings.Builder
}

func (s *story) command(t *testing.T, line string) {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "options":
		s.options(t, rest)
	case "model":
		s.set(t, rest)
	case "run":
		d, err := time.ParseDuration(rest)
		if err != nil {
			t.Fatal(err)
		}
		s.run(int(d.Seconds()))
	default:
		t.Fatalf("what is %q?", line)
	}
}

func (s *story) options(t *testing.T, rest string) {
	for key, value := range pairs(rest) {
		switch key {
		case "min":
			s.o.Minimum = int(number(t, value))
		case "max":
			s.o.Maximum = int(number(t, value))
		case "slots":
			s.o.SlotsPerPoller = int(number(t, value))
		case "bytes":
			s.o.BytesPerSecond = int64(number(t, value))
		case "target":
			s.o.TargetDrainTime, _ = time.ParseDuration(value)
		case "stream":
			s.o.PollerPerPartition = true
		default:
			t.Fatalf("no option %q", key)
		}
	}
	if s.scaler == nil {
		s.scaler = New(s.o)
	}
	s.scaler.SetOptions(s.o)
}

func (s *story) set(t *testing.T, rest string) {
	m := &s.model
	for key, value := range pairs(rest) {
		switch key {
		case "arrive":
			m.arrive = number(t, value)
		case "slot":
			m.slot = number(t, value)
		case "size":
			m.size = number(t, value)
		case "partitions":
			m.partitions = int(number(t, value))
		case "working":
			m.working = int(number(t, value))
		case "lag":
			m.lag += number(t, value)
		case "failing":
			m.failing = value == "yes"
		case "idle":
			m.idle = value == "yes"
		case "invalid":
			m.invalid = strings.ReplaceAll(value, "_", " ")
		default:
			t.Fatalf("no key %q", key)
		}
	}
}

// run says every change of the count, and how things stand at the end.
func (s *story) run(seconds int) {
	var last Decision
	for i := 1; i <= seconds; i++ {
		last = s.scaler.Step(s.model.now, s.model.second(s.scaler.Count(), s.o))
		if last.Changed() {
			fmt.Fprintf(&s.said, "+%ds %d -> %d: %s\n", i, last.From, last.To, last.Reason)
		}
	}
	fmt.Fprintf(&s.said, "+%ds %d: %s\n", seconds, last.To, last.Reason)
}

func pairs(s string) map[string]string {
	m := map[string]string{}
	for _, f := range strings.Fields(s) {
		k, v, _ := strings.Cut(f, "=")
		m[k] = v
	}
	return m
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
