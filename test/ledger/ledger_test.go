package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/record"
)

var (
	noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	p0   = record.TopicPartition{Topic: "orders"}
)

// A history is told line by line, one second apart, about one partition:
//
//	produce A..B          begin NAME offset…        end NAME [fail offset…|fail all]
//	dead OFFSET [SECOND]  dropped OFFSET
func tell(t *testing.T, order Order, history string) *Ledger {
	t.Helper()
	l := New(order)
	open := map[string]Delivery{}
	now := noon
	for line := range strings.Lines(history) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		now = now.Add(time.Second)
		switch rest := words[1:]; words[0] {
		case "produce":
			for _, o := range offsets(t, rest) {
				l.Produced(p0, o, 7)
			}
		case "begin":
			open[rest[0]] = l.Begin(now, []Run{{TopicPartition: p0, Offsets: offsets(t, rest[1:])}})
		case "corrupt":
			l.Begin(now, []Run{{TopicPartition: p0, Offsets: offsets(t, rest), Sums: []uint32{8}}})
		case "end":
			l.End(open[rest[0]], failing(t, rest[1:]))
		case "dead":
			at := time.Time{}
			if len(rest) > 1 {
				at = noon.Add(time.Duration(offsets(t, rest[1:])[0]) * time.Second)
			}
			l.DeadLettered(p0, offsets(t, rest[:1])[0], at)
		case "dropped":
			l.Dropped(p0, offsets(t, rest)[0], time.Time{})
		default:
			t.Fatalf("unknown line %q", line)
		}
	}
	return l
}

func failing(t *testing.T, words []string) func(record.TopicPartition, record.Offset) bool {
	switch {
	case len(words) == 0:
		return nil
	case words[1] == "all":
		return All
	}
	failed := map[record.Offset]bool{}
	for _, o := range offsets(t, words[1:]) {
		failed[o] = true
	}
	return func(_ record.TopicPartition, o record.Offset) bool { return failed[o] }
}

// offsets reads "3", "5..7".
func offsets(t *testing.T, words []string) (all []record.Offset) {
	for _, word := range words {
		var from, to record.Offset
		if n, _ := fmt.Sscanf(word, "%d..%d", &from, &to); n == 1 {
			to = from
		} else if n == 0 {
			t.Fatalf("no offset: %q", word)
		}
		for ; from <= to; from++ {
			all = append(all, from)
		}
	}
	return all
}

func TestHistories(t *testing.T) {
	cases := []struct {
		name    string
		order   Order
		history string
		want    Counts
		fault   string // part of the first fault; "" if the history is good
	}{
		{
			name:    "everything in order",
			history: "produce 0..3\nbegin a 0..1\nend a\nbegin b 2..3\nend b",
			want:    Counts{Produced: 4, Taken: 4},
		},
		{
			name:    "a record that nobody delivered is lost",
			history: "produce 0..1\nbegin a 0\nend a",
			want:    Counts{Produced: 2, Taken: 1, Lost: 1},
			fault:   "orders-0@1 is lost: delivered 0 times",
		},
		{
			name:    "a record that only failed is lost",
			history: "produce 0\nbegin a 0\nend a fail all",
			want:    Counts{Produced: 1, Lost: 1},
			fault:   "orders-0@0 is lost: delivered 1 times",
		},
		{
			name:    "a delivery that has not ended took nothing",
			history: "produce 0\nbegin a 0",
			want:    Counts{Produced: 1, Lost: 1},
			fault:   "orders-0@0 is lost",
		},
		{
			name:    "a retry that succeeds is no duplicate",
			history: "produce 0\nbegin a 0\nend a fail all\nbegin b 0\nend b",
			want:    Counts{Produced: 1, Taken: 1, Redelivered: 1},
		},
		{
			name:    "a second success is a duplicate",
			history: "produce 0..1\nbegin a 0..1\nend a\nbegin b 0..1\nend b",
			want:    Counts{Produced: 2, Taken: 2, Duplicates: 2, Redelivered: 2},
		},
		{
			name:    "two batches of one partition at once are out of order",
			history: "produce 0..1\nbegin a 0\nbegin b 1\nend a\nend b",
			want:    Counts{Produced: 2, Taken: 2, Violations: 1},
			fault:   "orders-0@0 was overtaken by orders-0@1 at 12:00:03.000",
		},
		{
			name:    "a batch skips a record",
			history: "produce 0..2\nbegin a 0 2\nend a\nbegin b 1\nend b",
			want:    Counts{Produced: 3, Taken: 3, Violations: 1},
			fault:   "orders-0@1 was overtaken by orders-0@2",
		},
		{
			name:    "a batch is out of order in itself",
			history: "produce 0..1\nbegin a 1 0\nend a",
			want:    Counts{Produced: 2, Taken: 2, Violations: 1},
			fault:   "orders-0 came in 1 batches that were not in the order of offsets",
		},
		{
			name:    "the next record comes before a failed one is retried",
			history: "produce 0..1\nbegin a 0\nend a fail all\nbegin b 1\nend b\nbegin c 0\nend c",
			want:    Counts{Produced: 2, Taken: 2, Redelivered: 1, Violations: 1},
			fault:   "orders-0@0 was overtaken",
		},
		{
			name:    "each record is overtaken once, however often",
			history: "produce 0..3\nbegin a 0\nend a fail all\nbegin b 1\nend b\nbegin c 2..3\nend c\nbegin d 0\nend d",
			want:    Counts{Produced: 4, Taken: 4, Redelivered: 1, Violations: 1},
			fault:   "by orders-0@1",
		},
		{
			name:    "batch item failures are retried before what follows",
			history: "produce 0..5\nbegin a 0..3\nend a fail 1 2\nbegin b 1..2\nend b\nbegin c 4..5\nend c",
			want:    Counts{Produced: 6, Taken: 6, Redelivered: 2},
		},
		{
			name:    "batch item failures are left behind",
			history: "produce 0..5\nbegin a 0..3\nend a fail 1\nbegin c 4..5\nend c\nbegin b 1\nend b",
			want:    Counts{Produced: 6, Taken: 6, Redelivered: 1, Violations: 1},
			fault:   "orders-0@1 was overtaken by orders-0@4",
		},
		{
			name:    "bisection in order",
			history: "produce 0..3\nbegin a 0..3\nend a fail all\nbegin b 0..1\nend b\nbegin c 2..3\nend c",
			want:    Counts{Produced: 4, Taken: 4, Redelivered: 4},
		},
		{
			name:    "bisection, second half first",
			history: "produce 0..3\nbegin a 0..3\nend a fail all\nbegin b 2..3\nend b\nbegin c 0..1\nend c",
			want:    Counts{Produced: 4, Taken: 4, Redelivered: 4, Violations: 2},
			fault:   "orders-0@0 was overtaken by orders-0@2",
		},
		{
			name:    "given up before the next record was handed over",
			history: "produce 0..1\nbegin a 0\nend a fail all\nbegin b 1\nend b\ndead 0 3",
			want:    Counts{Produced: 2, Taken: 1, DeadLettered: 1},
		},
		{
			name:    "given up only after the next record was handed over",
			history: "produce 0..1\nbegin a 0\nend a fail all\nbegin b 1\nend b\ndead 0 6",
			want:    Counts{Produced: 2, Taken: 1, DeadLettered: 1, Violations: 1},
			fault:   "orders-0@0 was overtaken by orders-0@1",
		},
		{
			name:    "of two dead letters the first counts",
			history: "produce 0..1\nbegin a 0\nend a fail all\nbegin b 1\nend b\ndead 0 6\ndead 0 3",
			want:    Counts{Produced: 2, Taken: 1, DeadLettered: 1},
		},
		{
			name:    "given up at an unknown time, and not in flight when it was overtaken",
			history: "produce 0..1\nbegin a 0\nend a fail all\nbegin b 1\nend b\ndead 0",
			want:    Counts{Produced: 2, Taken: 1, DeadLettered: 1},
		},
		{
			name:    "given up at an unknown time, but in flight when it was overtaken",
			history: "produce 0..1\nbegin a 0\nbegin b 1\nend b\nend a fail all\ndead 0",
			want:    Counts{Produced: 2, Taken: 1, DeadLettered: 1, Violations: 1},
			fault:   "orders-0@0 was overtaken",
		},
		{
			name:    "dropped without a destination",
			history: "produce 0..1\nbegin a 0\nend a fail all\ndropped 0\nbegin b 1\nend b",
			want:    Counts{Produced: 2, Taken: 1, Dropped: 1},
		},
		{
			name:    "after a crash, delivery starts again in order",
			history: "produce 0..3\nbegin a 0..1\nend a\nbegin b 2\nbegin c 0..1\nend c\nbegin d 2..3\nend d\nend b fail all",
			want:    Counts{Produced: 4, Taken: 4, Duplicates: 2, Redelivered: 3},
		},
		{
			name:    "after a crash, delivery starts again in the middle of what was in flight",
			history: "produce 0..3\nbegin a 0..1\nbegin b 1\nend b\nend a fail all\nbegin c 0\nend c",
			want:    Counts{Produced: 4, Taken: 2, Redelivered: 2, Lost: 2, Violations: 1},
			fault:   "orders-0@0 was overtaken by orders-0@1",
		},
		{
			name:    "gaps, as of markers and compaction, overtake nothing",
			history: "produce 0 3..4\nbegin a 0\nend a\nbegin b 3..4\nend b",
			want:    Counts{Produced: 3, Taken: 3},
		},
		{
			name:    "a record may be delivered before the producer knows of it",
			history: "begin a 0..1\nend a\nproduce 0..1",
			want:    Counts{Produced: 2, Taken: 2},
		},
		{
			name:    "a record that was skipped before the producer knew of it",
			history: "begin a 1\nend a\nproduce 0..1\nbegin b 0\nend b",
			want:    Counts{Produced: 2, Taken: 2, Violations: 1},
			fault:   "orders-0@0 was overtaken by orders-0@1",
		},
		{
			name:    "a record that nobody produced",
			history: "produce 0\nbegin a 0..1\nend a",
			want:    Counts{Produced: 1, Taken: 2, Foreign: 1},
			fault:   "orders-0@1 was delivered or given up, but never produced",
		},
		{
			name:    "a dead letter of a record that nobody produced",
			history: "dead 0",
			want:    Counts{DeadLettered: 1, Foreign: 1},
			fault:   "orders-0@0 was delivered or given up, but never produced",
		},
		{
			name:    "another value than was produced",
			history: "produce 0\ncorrupt 0\nbegin a 0\nend a",
			want:    Counts{Produced: 1, Taken: 1, Redelivered: 1, Corrupt: 1},
			fault:   "orders-0@0 was delivered with another key or value",
		},
		{
			name:    "without order, records may overtake each other",
			order:   None,
			history: "produce 0..1\nbegin b 1\nend b\nbegin a 0\nend a",
			want:    Counts{Produced: 2, Taken: 2},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := tell(t, c.order, c.history)
			r := l.Report()
			if total, _ := l.Progress(); total != (Progress{r.Produced, r.Taken}) {
				t.Errorf("progress %+v, the report says %d and %d", total, r.Produced, r.Taken)
			}
			if r.Counts != c.want {
				t.Errorf("counts\n%+v, want\n%+v", r.Counts, c.want)
			}
			switch err := r.Err(); {
			case c.fault == "" && err != nil:
				t.Errorf("Err: %v", err)
			case c.fault != "" && (err == nil || len(r.Faults) == 0 || !strings.Contains(r.Faults[0], c.fault)):
				t.Errorf("Err: %v, want one that names %q", err, c.fault)
			}
		})
	}
}

func TestRecordsAreKnownByTheirContent(t *testing.T) {
	l := New(PerPartition)
	l.Record(&record.Record{Topic: "orders", Offset: 0, Key: []byte("k"), Value: []byte("v")})
	l.Produced(p0, 1, 0)
	right, wrong := Sum([]byte("k"), []byte("v")), Sum([]byte("k"), []byte("w"))
	l.End(l.Begin(noon, []Run{{TopicPartition: p0, Offsets: []record.Offset{0, 1}, Sums: []uint32{right, wrong}}}), nil)
	if err := l.Report().Err(); err != nil {
		t.Error(err)
	}
	l.End(l.Begin(noon, []Run{{TopicPartition: p0, Offsets: []record.Offset{0, 1}, Sums: []uint32{wrong, wrong}}}), nil)
	if got := l.Report().Corrupt; got != 1 {
		t.Errorf("%d records corrupt, want the one whose sum is known", got)
	}
}

func TestReportIsATable(t *testing.T) {
	l := tell(t, PerPartition, "produce 0..2\nbegin a 0..1\nend a\nbegin b 1\nend b")
	want := `  partition  records  taken  dead-lettered  dropped  lost  out of order  duplicates
   orders-0        3      2              0        0     1             0           1
      total        3      2              0        0     1             0           1
2 batches handed over, 0 of them with failed records
orders-0@2 is lost: delivered 0 times, never taken, not given up
`
	if got := l.Report().String(); got != want {
		t.Errorf("report\n%s\nwant\n%s", got, want)
	}
}

// A poison record near the start, given up at once, must not make every later delivery look at all that is between.
func TestAMillionRecords(t *testing.T) {
	const records, batch = 1_000_000, 100
	l := New(PerPartition)
	for o := range record.Offset(records) {
		l.Produced(p0, o, 0)
	}
	began := time.Now()
	now := noon
	for from := record.Offset(0); from < records; from += batch {
		now = now.Add(time.Millisecond)
		run := Run{TopicPartition: p0}
		for o := from; o < from+batch; o++ {
			run.Offsets = append(run.Offsets, o)
		}
		l.End(l.Begin(now, []Run{run}), func(_ record.TopicPartition, o record.Offset) bool { return o%10_000 == 5 })
		if from%10_000 == 0 {
			l.DeadLettered(p0, from+5, now)
		}
	}
	r := l.Report()
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	if want := (Counts{Produced: records, Taken: records - 100, DeadLettered: 100}); r.Counts != want {
		t.Errorf("counts %+v, want %+v", r.Counts, want)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

func BenchmarkDelivery(b *testing.B) {
	l := New(PerPartition)
	run := Run{TopicPartition: p0, Offsets: make([]record.Offset, 100)}
	next := record.Offset(0)
	for b.Loop() {
		for i := range run.Offsets {
			run.Offsets[i] = next % OffsetMax
			next++
		}
		l.End(l.Begin(noon, []Run{run}), nil)
	}
}
