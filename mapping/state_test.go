package mapping

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the transcripts")

var eventWords = map[string]Event{
	"create": Create, "create disabled": CreateDisabled, "enable": Enable, "disable": Disable, "update": Update, "delete": Delete, "done": Done,
}

// TestStates plays the stories of testdata/states.txt; «-update» writes down how they go now.
func TestStates(t *testing.T) {
	const file = "testdata/states.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var s Status
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		story, _, ok := strings.Cut(block, "\n----\n")
		if !ok {
			t.Fatalf("no ---- in %q", block)
		}
		word := story[strings.LastIndex(story, "\n")+1:]
		result := ""
		if word == "new" {
			s, result = Status{}, "Gone"
		} else if e, known := eventWords[word]; !known {
			t.Fatalf("unknown event %q", word)
		} else if next, err := Step(s, e); err != nil {
			result = "refused: " + err.Error()
		} else {
			s, result = next, next.State.String()
		}
		out.WriteString(story + "\n----\n" + result + "\n\n")
	}
	got := strings.TrimSuffix(out.String(), "\n")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != string(data) {
		t.Errorf("%s goes otherwise now:\n%s", file, got)
	}
}

// TestEveryStepKeepsTheRules goes through every state and event.
func TestEveryStepKeepsTheRules(t *testing.T) {
	states := []State{Gone, Creating, Enabling, Enabled, Disabling, Disabled, Updating, Deleting}
	for _, state := range states {
		for _, running := range []bool{false, true} {
			for e := Create; e <= Done; e++ {
				s := Status{state, running}
				next, err := Step(s, e)
				kinds := 0
				for _, kind := range []error{ErrInUse, ErrNotFound, ErrExists, ErrNothingToDo} {
					if errors.Is(err, kind) {
						kinds++
					}
				}
				switch {
				case err != nil && (kinds != 1 || next != s):
					t.Errorf("%v + %s: %v is of %d kinds and leads to %v", s, e, err, kinds, next)
				case err == nil && e == Done && !next.State.Settled() && next.State != Gone:
					t.Errorf("%v + %s leads to %v, which is not settled", s, e, next)
				case err == nil && e != Done && (next.State.Settled() || next.State == Gone):
					t.Errorf("%v + %s leads to %v before it is done", s, e, next)
				case err == nil && next.State == Enabled && !next.Running, err == nil && next.State == Disabled && next.Running:
					t.Errorf("%v + %s leads to %v", s, e, next)
				}
			}
		}
	}
	if Event(99).String() != "?" || Event(-1).String() != "?" {
		t.Error("an unknown event has a name")
	}
}
