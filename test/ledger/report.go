package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/sluicehq/sluice/record"
)

// Bounds of the faults that a report names.
const (
	examplesMax = 10 // of one kind and partition
	faultsMax   = 40
)

// Counts are of records, except where they say otherwise.
type Counts struct {
	Produced     int64
	Taken        int64 // a delivery succeeded
	DeadLettered int64
	Dropped      int64
	Lost         int64 // produced, and none of the above
	Violations   int64 // overtaken by a later record of the partition before it was settled; batches out of order in themselves
	Duplicates   int64 // successful deliveries beyond a record's first
	Redelivered  int64 // deliveries beyond a record's first, successful or not
	Foreign      int64 // delivered or given up, and never produced
	Corrupt      int64 // delivered with another key or value than was produced
}

// Report is the judgement.
type Report struct {
	Counts
	Attempts, FailedAttempts int64 // batches handed over; those with at least one failed record
	Partitions               map[record.TopicPartition]Counts

	// Faults are examples, at most 40, each a sentence that names a record.
	Faults []string
}

// Report judges what the ledger has been told so far; deliveries that have not ended count as failed.
func (l *Ledger) Report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := Report{
		Attempts: l.attempts, FailedAttempts: l.failed,
		Partitions: map[record.TopicPartition]Counts{},
	}
	for _, tp := range sorted(maps.Keys(l.partitions)) {
		counts := r.judge(tp, l.partitions[tp])
		r.Partitions[tp] = counts
		r.add(counts)
	}
	return r
}

func (r *Report) judge(tp record.TopicPartition, p *partition) Counts {
	var c Counts
	for i, e := range p.entries {
		offset := record.Offset(i)
		known := e.flags&produced != 0
		count(&c.Taken, e.successes > 0)
		count(&c.DeadLettered, e.flags&deadLettered != 0)
		count(&c.Dropped, e.flags&dropped != 0)
		c.Duplicates += max(0, int64(e.successes)-1)
		c.Redelivered += max(0, int64(e.deliveries)-1)
		settled := e.successes > 0 || e.flags&(deadLettered|dropped) != 0
		switch {
		case !known && (settled || e.deliveries > 0):
			r.fault(&c.Foreign, "%s was delivered or given up, but never produced", tp.At(offset))
		case known && !settled:
			r.fault(&c.Lost, "%s is lost: delivered %d times, never taken, not given up", tp.At(offset), e.deliveries)
		}
		if e.flags&corrupt != 0 {
			r.fault(&c.Corrupt, "%s was delivered with another key or value than was produced", tp.At(offset))
		}
		count(&c.Produced, known)
		if o, ok := p.overtaken[offset]; ok && known && !p.excused(offset, o) {
			r.fault(&c.Violations, "%s was overtaken by %s at %s: not settled, and not in the same batch",
				tp.At(offset), tp.At(o.by), o.at.Format("15:04:05.000"))
		}
	}
	if p.unsorted > 0 {
		c.Violations += p.unsorted - 1
		r.fault(&c.Violations, "%s came in %d batches that were not in the order of offsets", tp, p.unsorted)
	}
	return c
}

func count(n *int64, yes bool) {
	if yes {
		*n++
	}
}

// fault counts one, and keeps the first of each partition's as examples.
func (r *Report) fault(n *int64, format string, args ...any) {
	*n++
	if *n <= examplesMax && len(r.Faults) < faultsMax {
		r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
	}
}

func (c *Counts) add(d Counts) {
	c.Produced += d.Produced
	c.Taken += d.Taken
	c.DeadLettered += d.DeadLettered
	c.Dropped += d.Dropped
	c.Lost += d.Lost
	c.Violations += d.Violations
	c.Duplicates += d.Duplicates
	c.Redelivered += d.Redelivered
	c.Foreign += d.Foreign
	c.Corrupt += d.Corrupt
}

// Err is nil if nothing was lost, out of order, foreign or corrupt. Duplicates are the caller's to judge.
func (r Report) Err() error {
	var errs []error
	for what, n := range map[string]int64{
		"lost": r.Lost, "out of order": r.Violations, "never produced": r.Foreign, "corrupt": r.Corrupt,
	} {
		if n > 0 {
			errs = append(errs, fmt.Errorf("%d records %s", n, what))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return fmt.Errorf("%w\n%s", errors.Join(errs...), strings.Join(r.Faults, "\n"))
}

// String is a table of the partitions with their sum, and the examples of faults below.
func (r Report) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, c Counts) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n",
			name, c.Produced, c.Taken, c.DeadLettered, c.Dropped, c.Lost, c.Violations, c.Duplicates)
	}
	fmt.Fprintln(w, "partition\trecords\ttaken\tdead-lettered\tdropped\tlost\tout of order\tduplicates\t")
	for _, tp := range sorted(maps.Keys(r.Partitions)) {
		row(tp.String(), r.Partitions[tp])
	}
	row("total", r.Counts)
	_ = w.Flush()
	fmt.Fprintf(&b, "%d batches handed over, %d of them with failed records\n", r.Attempts, r.FailedAttempts)
	for _, fault := range r.Faults {
		fmt.Fprintln(&b, fault)
	}
	return b.String()
}

func sorted(tps func(func(record.TopicPartition) bool)) []record.TopicPartition {
	return slices.SortedFunc(tps, func(a, b record.TopicPartition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
}
