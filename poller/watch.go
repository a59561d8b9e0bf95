package poller

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// Watch remembers how the last batches of a mapping ended, for its status, and keeps the log readable: a trouble
// that goes on is logged once a second at most, with the number of times that it was not. The zero value is ready.
type Watch struct {
	state atomic.Int32 // of the last batch: fresh, ok, problem

	mu      sync.Mutex
	problem string             // of the last failed batch
	held    string             // why given-up records are held; empty when the last delivery was confirmed
	quiet   map[string]*sparse // by what is logged
}

const (
	fresh int32 = iota
	ok
	problem
)

type sparse struct {
	at      time.Time
	skipped int
}

// Result is the mapping's last processing result in Lambda's words ("OK", "PROBLEM: Function call failed"), and what
// stands behind a problem; detail is empty if all is well. owes says that there are still given-up records without
// confirmation here: those of before may be another's by now.
func (w *Watch) Result(owes bool) (result, detail string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.held != "" && owes:
		return "PROBLEM: On-failure destination", w.held
	case w.state.Load() == ok:
		return "OK", ""
	case w.state.Load() == problem:
		return "PROBLEM: Function call failed", w.problem
	}
	return "No records processed", ""
}

// Held says why given-up records are held back; empty if none are.
func (w *Watch) Held() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held
}

func (w *Watch) taken() {
	if w.state.Load() != ok { // a load is all that a healthy batch pays
		w.state.Store(ok)
	}
}

func (w *Watch) failed(log *slog.Logger, runs []record.Run, attempt int, err *invoke.Error) {
	if err.Kind == invoke.Canceled {
		return
	}
	what := fmt.Sprintf("batch of %d (%s), attempt %d: %v", count(runs), Names(runs), attempt, err)
	w.trouble(what)
	args := []any{"batch", Names(runs), "records", count(runs), "attempt", attempt, "kind", err.Kind.String(), "error", err.Error()}
	if err.Hint != "" {
		args = append(args, "hint", err.Hint)
	}
	w.say(log, "invoke "+err.Kind.String(), slog.LevelWarn, "invocation failed", args...)
}

func (w *Watch) partlyFailed(log *slog.Logger, runs []record.Run, attempt, failed int) {
	w.trouble(fmt.Sprintf("%d of %d records (%s) named as failed, attempt %d", failed, count(runs), Names(runs), attempt))
	w.say(log, "partial", slog.LevelInfo, "function named failed records",
		"batch", Names(runs), "records", count(runs), "failed", failed, "attempt", attempt)
}

func (w *Watch) trouble(what string) {
	w.mu.Lock()
	w.problem = what
	w.mu.Unlock()
	w.state.Store(problem)
}

// dropped is logged every time: it is where a record ends.
func (w *Watch) dropped(log *slog.Logger, run *record.Run) {
	log.Error("records dropped: the mapping's limits ran out and it has no on-failure destination",
		"records", Offsets(run), "count", len(run.Records), "condition", run.Retry.GiveUp, "attempts", run.Retry.Invocations, "last", Cause(run.Retry.Last))
}

func (w *Watch) delivered(log *slog.Logger, run *record.Run) {
	w.mu.Lock()
	w.held = ""
	w.mu.Unlock()
	log.Warn("records sent to the on-failure destination",
		"records", Offsets(run), "count", len(run.Records), "condition", run.Retry.GiveUp, "attempts", run.Retry.Invocations, "last", Cause(run.Retry.Last))
}

func (w *Watch) undelivered(log *slog.Logger, run *record.Run, err error) {
	w.mu.Lock()
	w.held = fmt.Sprintf("%s held: %v", Offsets(run), err)
	w.mu.Unlock()
	w.say(log, "undelivered", slog.LevelError, "on-failure destination did not confirm; the records are held back",
		"records", Offsets(run), "count", len(run.Records), "error", err.Error())
}

// say logs a trouble, at most once a second for each name.
func (w *Watch) say(log *slog.Logger, name string, level slog.Level, msg string, args ...any) {
	w.mu.Lock()
	if w.quiet == nil {
		w.quiet = make(map[string]*sparse)
	}
	s := w.quiet[name]
	if s == nil {
		s = &sparse{}
		w.quiet[name] = s
	}
	now := time.Now()
	if now.Sub(s.at) < time.Second {
		s.skipped++
		w.mu.Unlock()
		return
	}
	skipped := s.skipped
	s.at, s.skipped = now, 0
	w.mu.Unlock()
	if skipped > 0 {
		args = append(args, "not_logged", skipped)
	}
	log.Log(context.Background(), level, msg, args...)
}

// Names lists runs as "topic-partition@first..last", the first few of them.
func Names(runs []record.Run) string {
	const most = 4
	var b strings.Builder
	for i := range runs {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(runs)-most)
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(span(&runs[i]))
	}
	return b.String()
}

func span(run *record.Run) string {
	s := run.At(run.First())
	if len(run.Records) > 1 {
		s += fmt.Sprintf("..%d", run.Last())
	}
	return s
}

// Offsets lists every record of a run as "topic-partition@offset,offset,first..last".
func Offsets(run *record.Run) string {
	var b strings.Builder
	b.WriteString(run.TopicPartition.String())
	sep := byte('@')
	for i := 0; i < len(run.Records); {
		j := i
		for j+1 < len(run.Records) && run.Records[j+1].Offset == run.Records[j].Offset+1 {
			j++
		}
		b.WriteByte(sep)
		fmt.Fprintf(&b, "%d", run.Records[i].Offset)
		if j > i {
			fmt.Fprintf(&b, "..%d", run.Records[j].Offset)
		}
		sep, i = ',', j+1
	}
	return b.String()
}

// Cause says a failure in a few words: "503", "FunctionError: Boom: no stock", "Timeout".
func Cause(f record.Failure) string {
	if f.Partial {
		return "named in batchItemFailures"
	}
	parts := []string{f.Kind}
	if f.Status != 0 {
		parts = append(parts, fmt.Sprint(f.Status))
	}
	for _, s := range []string{f.Type, f.Message} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}
