package demo

import (
	"testing"
	"time"
)

func TestLedgerJudges(t *testing.T) {
	noon := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	batch := func(offsets ...int64) []run {
		r := run{}
		for _, o := range offsets {
			r.records = append(r.records, handed{o, 1})
		}
		return []run{r}
	}
	cases := []struct {
		name                         string
		tell                         func(l *ledger)
		lost, violations, duplicates int64
	}{
		{"in order", func(l *ledger) {
			l.begin(at(0), 1, batch(0, 1))
			l.end(batch(0, 1), true)
			l.begin(at(1), 1, batch(2))
			l.end(batch(2), true)
		}, 0, 0, 0},
		{"nobody handed over the last", func(l *ledger) {
			l.begin(at(0), 1, batch(0, 1))
			l.end(batch(0, 1), true)
		}, 1, 0, 0},
		{"a failure and its retry", func(l *ledger) {
			l.begin(at(0), 1, batch(0, 1, 2))
			l.end(batch(0, 1, 2), false)
			l.begin(at(1), 2, batch(0, 1, 2))
			l.end(batch(0, 1, 2), true)
		}, 0, 0, 0},
		{"taken twice", func(l *ledger) {
			l.begin(at(0), 1, batch(0, 1, 2))
			l.end(batch(0, 1, 2), true)
			l.begin(at(1), 1, batch(0, 1, 2))
			l.end(batch(0, 1, 2), true)
		}, 0, 0, 3},
		{"a later record while the first is out", func(l *ledger) {
			l.begin(at(0), 1, batch(0))
			l.begin(at(1), 1, batch(1, 2))
			l.end(batch(0), true)
			l.end(batch(1, 2), true)
		}, 0, 1, 0},
		{"a later record before a retry", func(l *ledger) {
			l.begin(at(0), 1, batch(0))
			l.end(batch(0), false)
			l.begin(at(1), 1, batch(1, 2))
			l.end(batch(1, 2), true)
			l.begin(at(2), 2, batch(0))
			l.end(batch(0), true)
		}, 0, 1, 0},
		{"a dead letter that is read late", func(l *ledger) {
			l.begin(at(0), 1, batch(0))
			l.end(batch(0), false)
			l.begin(at(2), 1, batch(1, 2))
			l.end(batch(1, 2), true)
			l.deadLettered(at(1), 0, 0, 1)
		}, 0, 0, 0},
		{"a dead letter that was written late", func(l *ledger) {
			l.begin(at(0), 1, batch(0))
			l.end(batch(0), false)
			l.begin(at(2), 1, batch(1, 2))
			l.end(batch(1, 2), true)
			l.deadLettered(at(3), 0, 0, 1)
		}, 0, 1, 0},
		{"the wrong way round within a batch", func(l *ledger) {
			l.begin(at(0), 1, batch(1, 0, 2))
			l.end(batch(1, 0, 2), true)
		}, 0, 2, 0}, // 0 was overtaken, and the run is not ascending
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := newLedger(1)
			for o := range int64(3) {
				l.produced(0, o, 1)
			}
			c.tell(l)
			lost, violations, faults := l.judge("t")
			if lost != c.lost || violations != c.violations || l.sums().Duplicates != c.duplicates {
				t.Errorf("lost %d, violations %d, duplicates %d (%q), want %d, %d, %d",
					lost, violations, l.sums().Duplicates, faults, c.lost, c.violations, c.duplicates)
			}
			if s := l.sums(); lost == 0 && (s.Sent != s.Seen || s.Sent != 3) {
				t.Errorf("amounts: sent %d, seen %d", s.Sent, s.Seen)
			}
			if n := len(l.partitions[0].out) + len(l.partitions[0].ahead); n > 0 && lost == 0 {
				t.Errorf("%d records are remembered for nothing", n)
			}
		})
	}
}
