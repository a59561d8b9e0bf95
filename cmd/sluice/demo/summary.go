package demo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// result is what came of one scene.
type result struct {
	scene            *scene
	counts           counts
	lost, violations int64
	uncommitted      int64
	poisoned         bool
	faults           []string
}

// proven says whether the scene kept every promise.
func (r *result) proven() bool {
	return r.lost == 0 && r.violations == 0 && r.uncommitted == 0 && r.poisoned &&
		r.counts.Produced >= int64(r.scene.records) && r.counts.Sent == r.counts.Seen
}

// summarize shows the results; it returns ErrUnproven if something is not as it should be.
func (d *demo) summarize(ctx context.Context) error {
	results := d.tally(ctx, true)
	if slices.ContainsFunc(results, func(r *result) bool { return !r.proven() }) {
		return ErrUnproven
	}
	var records int64
	for _, r := range results {
		records += r.counts.Produced
	}
	fmt.Fprintf(d.Out, "\nNothing was lost, order held, and the poison record is on its dead-letter topic.\n")
	if d.took > 0 {
		fmt.Fprintf(d.Out, "%s records in %.1f s: %s records/s.\n",
			comma(records), d.took.Seconds(), comma(int64(float64(records)/d.took.Seconds())))
	}
	return nil
}

// tally shows the results as they are. Ended says that everything should be settled.
func (d *demo) tally(ctx context.Context, ended bool) []*result {
	results := make([]*result, 0, len(d.scenes))
	for _, s := range d.scenes {
		r := &result{scene: s, poisoned: s.poisoned()}
		r.lost, r.violations, r.faults = s.ledger.judge(s.Topic())
		r.counts = s.ledger.sums()
		var err error
		if r.uncommitted, err = s.committed(ctx, d.kafka); err != nil {
			r.faults = append(r.faults, err.Error())
		}
		results = append(results, r)
	}
	fmt.Fprintln(d.Out)
	table(d.Out, results, ended)
	for _, r := range results {
		if !ended {
			break // what is missing is no fault
		}
		for _, fault := range r.faults {
			fmt.Fprintln(d.Out, "  "+fault)
		}
	}
	return results
}

// commitWait is how long the commits of what is settled may take: they are made once a second.
const commitWait = 5 * time.Second

// committed waits until everything is committed, and says how many records are not after that time.
func (s *scene) committed(ctx context.Context, kafka *cluster) (int64, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitWait)
	defer cancel()
	last := int64(-1)
	for {
		n, err := s.uncommitted(ctx, kafka)
		switch {
		case ctx.Err() != nil && last >= 0:
			return last, nil
		case err != nil || n == 0:
			return n, err
		}
		last = n
		if s.ledger.sums().settled() < s.ledger.sums().Produced {
			return n, nil // it cannot be
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// table prints a line for each figure and a column for each scene.
func table(out io.Writer, results []*result, ended bool) {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	row := func(name string, value func(r *result) string) {
		cells := []string{name}
		for _, r := range results {
			cells = append(cells, value(r))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t")+"\t")
	}
	number := func(name string, value func(r *result) int64) {
		row(name, func(r *result) string { return comma(value(r)) })
	}
	row("mapping", func(r *result) string { return r.scene.Name })
	row("mode", func(r *result) string { return r.scene.Mode })
	number("records", func(r *result) int64 { return r.counts.Produced })
	number("batches", func(r *result) int64 { return r.counts.Batches })
	number("of them failed", func(r *result) int64 { return r.counts.Failed })
	number("of them retries", func(r *result) int64 { return r.counts.Retries })
	number("dead letters", func(r *result) int64 { return r.counts.DeadLettered })
	row("poison record", func(r *result) string { return poison(r) })
	number("duplicates", func(r *result) int64 { return r.counts.Duplicates })
	number("order violations", func(r *result) int64 { return r.violations })
	if ended {
		number("lost", func(r *result) int64 { return r.lost })
		row("content", func(r *result) string { return content(r) })
	} else {
		number("not settled", func(r *result) int64 { return r.lost })
	}
	number("not committed", func(r *result) int64 { return r.uncommitted })
	_ = w.Flush() // writes to where everything else went
}

// content says whether the amounts that the function saw are those that were sent.
func content(r *result) string {
	if r.counts.Sent == r.counts.Seen {
		return "as it was sent"
	}
	return "CHANGED"
}

// poison says where the poison record is, and whether it is a dead letter.
func poison(r *result) string {
	at := r.scene.poison.Load()
	switch {
	case at == nil:
		return "not produced"
	case !r.poisoned:
		return at.String() + ", NOT a dead letter"
	}
	return at.String()
}
