package circuit

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/record"
)

var update = flag.Bool("update", false, "rewrite the transcripts' answers")

// TestTranscripts replays testdata/*.txt: commands, a line of dashes, what the circuit answered.
func TestTranscripts(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no transcripts")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sc := &script{now: time.Unix(0, 0)}
			sc.start = sc.now
			var out []string
			for _, block := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
				head, want, _ := strings.Cut(block, "\n----\n")
				var got []string
				for _, line := range strings.Split(head, "\n") {
					if !strings.HasPrefix(line, "#") {
						got = append(got, sc.do(line))
					}
				}
				answer := strings.Join(got, "\n")
				if answer != strings.TrimSpace(want) && !*update {
					t.Errorf("%s:\n%s\ngot:\n%s\nwant:\n%s", file, head, answer, want)
				}
				out = append(out, head+"\n----\n"+answer)
			}
			if *update {
				if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// script runs commands on a circuit. A run is "partition:first-last", with ":again=N" if it failed before when the
// function had taken N calls.
type script struct {
	c          *Circuit
	passes     []Pass // of the calls that are out, the first to enter first
	now, start time.Time
}

func (s *script) do(line string) string {
	f := strings.Fields(line)
	arg := func(name string) string {
		for _, a := range f[1:] {
			if v, ok := strings.CutPrefix(a, name+"="); ok {
				return v
			}
		}
		return ""
	}
	switch f[0] {
	case "new":
		n, _ := strconv.Atoi(arg("max"))
		s.c = New(Limits{MaxConcurrency: n, OutageProtection: arg("protection") != "off"})
		return s.show()
	case "sleep":
		d, err := time.ParseDuration(f[1])
		if err != nil {
			panic(err)
		}
		s.now = s.now.Add(d)
		return "now " + s.now.Sub(s.start).String()
	case "enter":
		n := 1
		if len(f) > 1 {
			n, _ = strconv.Atoi(f[1])
		}
		for i := range n {
			p, ok, at := s.c.Enter(s.now, 0)
			if ok {
				s.passes = append(s.passes, p)
			} else {
				when := "when a call ends"
				if !at.IsZero() {
					when = "at " + at.Sub(s.start).String()
				}
				return fmt.Sprintf("%d in, then not: %s", i, when)
			}
		}
		return fmt.Sprintf("%d in", n)
	case "cancel":
		s.c.Cancel(s.pass())
		return s.show()
	case "ok":
		s.c.Leave(s.now, 0.5, s.pass(), Call{Result: Succeeded})
		return s.show()
	case "throttled":
		d, _ := time.ParseDuration(arg("after"))
		s.c.Leave(s.now, 0.5, s.pass(), Call{Result: Throttled, RetryAfter: d})
		return s.show()
	case "refused":
		return s.leave(Unreachable, Failure{Kind: "Unreachable"}, f[1:])
	case "fail":
		status, err := strconv.Atoi(f[1])
		if err != nil {
			panic(err)
		}
		return s.leave(Failed, Failure{Kind: "FunctionError", Status: status}, f[2:])
	}
	panic("unknown command " + line)
}

func (s *script) leave(r Result, fail Failure, runs []string) string {
	call := Call{Result: r, Failure: fail}
	for _, text := range runs {
		parts := strings.Split(text, ":")
		p, _ := strconv.Atoi(parts[0])
		first, last, _ := strings.Cut(parts[1], "-")
		a, _ := strconv.ParseInt(first, 10, 64)
		b, _ := strconv.ParseInt(last, 10, 64)
		run := record.Run{TopicPartition: record.TopicPartition{Topic: "t", Partition: int32(p)}}
		run.Records = []*record.Record{{Offset: a}, {Offset: b}}
		if len(parts) == 3 {
			n, _ := strconv.ParseUint(strings.TrimPrefix(parts[2], "again="), 10, 64)
			run.Retry = &record.Retry{Successes: n + 1}
		}
		call.Runs = append(call.Runs, run)
	}
	blame := "the batch is to blame"
	if s.c.Leave(s.now, 0.5, s.pass(), call) {
		blame = "an outage"
	}
	return blame + "; " + s.show()
}

// pass is that of the oldest call that is out.
func (s *script) pass() Pass {
	p := s.passes[0]
	s.passes = s.passes[1:]
	return p
}

func (s *script) show() string {
	st := s.c.Status()
	text := fmt.Sprintf("%s, %d out", st.State, st.Out)
	if st.Limit > 0 {
		text += fmt.Sprintf(" of %d", st.Limit)
	}
	if st.Until.After(s.now) {
		text += ", until " + st.Until.Sub(s.start).String()
	}
	if !st.Since.IsZero() {
		text += fmt.Sprintf(", since %s: %s %d", st.Since.Sub(s.start), st.Cause.Kind, st.Cause.Status)
	}
	return text
}
