package failure

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

var update = flag.Bool("update", false, "rewrite the transcripts with what the code says now")

// TestTranscripts replays the stories of testdata. A story is a list of commands, each with its outcome below a line
// of dashes. The machine keeps the runs that are waiting in a queue, as a poller would for one partition; commands
// judge its head.
//
//	policy retries=N age=D bisect destination backoff=D..D    sets the policy
//	run TOPIC-P 15..24,30 age=D age@15=D                      one run, first in the queue; ages are as of now
//	rnd 0.25                                                  the random number from here on (0.5 at start)
//	sleep D                                                   time passes
//	fail KIND status=N retry-after=D type=T                   the head was invoked alone, and failed
//	fail-shared KIND …                                        the head was invoked together with other runs
//	partial 17,20                                             the function named these offsets as failed
//	take                                                      the function took the head
//	expire                                                    before an invocation
//	undelivered 20,21                                         the destination did not confirm these
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { replayFile(t, file) })
	}
}

func replayFile(t *testing.T, file string) {
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newStory()
	var got strings.Builder
	skipping := false
	for n, line := range strings.Split(strings.TrimRight(string(want), "\n"), "\n") {
		switch {
		case line == "----":
			skipping = true
			continue
		case line == "":
			if skipping {
				skipping = false
			}
			got.WriteString("\n")
			continue
		case skipping:
			continue
		}
		got.WriteString(line + "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		out, err := s.do(line)
		if err != nil {
			t.Fatalf("%s:%d: %s: %v", file, n+1, line, err)
		}
		if out != "" {
			got.WriteString("----\n" + out)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != string(want) {
		t.Errorf("%s says otherwise (run with -update and look at the diff):\n%s", file, got.String())
	}
}

// story is the state of a transcript.
type story struct {
	policy     Policy
	start, now time.Time
	rnd        float64
	queue      []record.Run
	owed       record.Run
}

func newStory() *story {
	start := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	return &story{
		start: start, now: start, rnd: 0.5,
		policy: Policy{MaximumRetryAttempts: -1, InitialBackoff: time.Second, MaximumBackoff: time.Minute},
	}
}

func (s *story) do(line string) (string, error) {
	words := strings.Fields(line)
	args := words[1:]
	switch words[0] {
	case "policy":
		return "", s.setPolicy(args)
	case "run":
		return "", s.setRun(args)
	case "rnd":
		r, err := strconv.ParseFloat(args[0], 64)
		s.rnd = r
		return "", err
	case "sleep":
		d, err := time.ParseDuration(args[0])
		s.now = s.now.Add(d)
		return "", err
	case "undelivered":
		part := s.owed
		part.Records = nil
		for _, at := range offsets(args[0]) {
			part.Records = append(part.Records, s.owed.Records[indexOf(s.owed, at)])
		}
		s.owed = s.policy.Undelivered(s.now, s.rnd, part)
		return s.print("owed", s.owed), nil
	}
	if len(s.queue) == 0 {
		return "", fmt.Errorf("no run")
	}
	head := s.queue[0]
	s.queue = s.queue[1:]
	switch words[0] {
	case "take":
		return s.rest(), nil
	case "expire":
		keep, d := s.policy.Expired(s.now, head)
		out := ""
		for _, run := range keep {
			out += s.print("invoke", run)
		}
		s.queue = slices.Concat(keep, s.queue)
		return out + s.fold(d, len(keep)), nil
	case "partial":
		var failed []int
		for _, at := range offsets(args[0]) {
			failed = append(failed, indexOf(head, at))
		}
		return s.fold(s.policy.PartiallyFailed(s.now, s.rnd, head, failed, record.Failure{}), 0), nil
	case "fail", "fail-shared":
		ierr, err := parseError(args)
		if err != nil {
			return "", err
		}
		judge := s.policy.Failed
		if words[0] == "fail-shared" {
			judge = s.policy.FailedShared
		}
		return s.fold(judge(s.now, s.rnd, head, ierr.Failure(""), ierr), 0), nil
	}
	return "", fmt.Errorf("unknown command")
}

// fold prints a decision and queues what is to be retried, behind the first n runs.
func (s *story) fold(d Decision, n int) string {
	out := ""
	for _, run := range d.Retry {
		out += s.print("retry", run)
	}
	for _, run := range d.DeadLetter {
		out += s.print("dead-letter", run)
		s.owed = run
	}
	for _, run := range d.Drop {
		out += s.print("drop", run)
	}
	s.queue = slices.Insert(s.queue, n, d.Retry...)
	if out == "" && n == 0 {
		return "all taken\n"
	}
	return out
}

func (s *story) rest() string {
	if len(s.queue) == 0 {
		return "nothing waits\n"
	}
	out := ""
	for _, run := range s.queue {
		out += s.print("waits", run)
	}
	return out
}

func (s *story) print(verb string, run record.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", verb, run.TopicPartition, ranges(run.Records))
	if r := run.Retry; r != nil {
		fmt.Fprintf(&b, " attempts=%d invocations=%d", r.Attempts, r.Invocations)
		if r.Waits > 0 {
			fmt.Fprintf(&b, " waits=%d", r.Waits)
		}
		if pause := r.NotBefore.Sub(s.now); pause > 0 {
			fmt.Fprintf(&b, " in %v", pause)
		}
		if r.Last.Kind != "" {
			fmt.Fprintf(&b, " after %s", r.Last.Kind)
		}
		if r.Last.Status != 0 {
			fmt.Fprintf(&b, "/%d", r.Last.Status)
		}
		if r.GiveUp != "" {
			fmt.Fprintf(&b, " because %s", r.GiveUp)
		}
	}
	return b.String() + "\n"
}

func (s *story) setPolicy(args []string) error {
	p := &s.policy
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		var err error
		switch name {
		case "retries":
			p.MaximumRetryAttempts, err = strconv.Atoi(value)
		case "age":
			p.MaximumRecordAge, err = time.ParseDuration(value)
		case "bisect":
			p.Bisect = true
		case "destination":
			p.Destination = value != "none"
		case "backoff":
			low, high, _ := strings.Cut(value, "..")
			p.InitialBackoff, _ = time.ParseDuration(low)
			p.MaximumBackoff, err = time.ParseDuration(high)
		default:
			err = fmt.Errorf("unknown %q", arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *story) setRun(args []string) error {
	cut := strings.LastIndex(args[0], "-")
	partition, err := strconv.Atoi(args[0][cut+1:])
	if err != nil {
		return err
	}
	run := record.Run{TopicPartition: record.TopicPartition{Topic: args[0][:cut], Partition: int32(partition)}}
	for _, at := range offsets(args[1]) {
		run.Records = append(run.Records, &record.Record{
			Topic: run.Topic, Partition: run.Partition, Offset: at, Timestamp: s.now,
		})
	}
	for _, arg := range args[2:] {
		name, value, _ := strings.Cut(arg, "=")
		age, err := time.ParseDuration(value)
		if err != nil {
			return err
		}
		_, only, some := strings.Cut(name, "@")
		for i := range run.Records {
			if !some || slices.Contains(offsets(only), run.Records[i].Offset) {
				run.Records[i].Timestamp = s.now.Add(-age)
			}
		}
	}
	s.queue = slices.Insert(s.queue, 0, run)
	return nil
}

func parseError(args []string) (*invoke.Error, error) {
	e := &invoke.Error{}
	for k := invoke.FunctionError; k <= invoke.Canceled; k++ {
		if k.String() == args[0] {
			e.Kind = k
		}
	}
	if e.Kind == 0 {
		return nil, fmt.Errorf("unknown kind %q", args[0])
	}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		var err error
		switch name {
		case "status":
			e.Status, err = strconv.Atoi(value)
		case "retry-after":
			e.RetryAfter, err = time.ParseDuration(value)
		case "type":
			e.Type = value
		default:
			err = fmt.Errorf("unknown %q", arg)
		}
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

// offsets reads "15..24,30". A mistake in a transcript shows as offset -1, which no run has.
func offsets(list string) []int64 {
	var all []int64
	for _, part := range strings.Split(list, ",") {
		low, high, isRange := strings.Cut(part, "..")
		if !isRange {
			high = low
		}
		a, errA := strconv.ParseInt(low, 10, 64)
		b, errB := strconv.ParseInt(high, 10, 64)
		if errA != nil || errB != nil {
			a, b = -1, -1
		}
		for ; a <= b; a++ {
			all = append(all, a)
		}
	}
	return all
}

func ranges(records []*record.Record) string {
	var parts []string
	for i := 0; i < len(records); {
		j := i
		for j+1 < len(records) && records[j+1].Offset == records[j].Offset+1 {
			j++
		}
		if i == j {
			parts = append(parts, strconv.FormatInt(records[i].Offset, 10))
		} else {
			parts = append(parts, fmt.Sprintf("%d..%d", records[i].Offset, records[j].Offset))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

func indexOf(run record.Run, offset int64) int {
	return slices.IndexFunc(run.Records, func(r *record.Record) bool { return r.Offset == offset })
}
