package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/sluicehq/sluice/test/bench/report"
)

// benchmark is one thing that can be measured by itself.
type benchmark struct {
	name, about string
	run         func(*bench, context.Context) (report.Section, error)
}

// benchmarks are all there are, in the order of the tables.
func benchmarks() []benchmark {
	return []benchmark{
		{"throughput", "records/s, CPU and memory beside the loop, by batch and size of the values", (*bench).throughput},
		{"latency", "from produce to function beside the loop, at 10 to 2 000 records/s", (*bench).latency},
		{"startup", "from a process's start to its first call, beside the loop", (*bench).startup},
		{"idle", "goroutines, memory, connections and CPU of mappings without records", (*bench).idle},
		{"state", "what is held of a record in flight, beside the bare client", (*bench).state},
		{"failing", "goodput where 5 % of the calls fail, and latency beside a poison record", (*bench).failing},
		{"caps", "50 pollers held to 5 MB/s each in one process", (*bench).caps},
		{"backlog", "memory with 1 000 000 records behind and a function that takes 5 s", (*bench).behind},
		{"filter", "a match alone, and a mapping that lets 1 % of its records through", (*bench).filters},
		{"encoding", "writing a record into an event, beside base64 alone", (*bench).encoding},
	}
}

// run measures, prints, and records or compares. Benchmarks that were done count though a later one fails.
func run(ctx context.Context, o options) (err error) {
	b, err := openBench(ctx, o)
	if err != nil {
		return err
	}
	measured, err := b.measure(ctx)
	err = errors.Join(err, b.close())
	for i := range measured.Sections {
		fmt.Printf("## %s\n\n%s\n", measured.Sections[i].Bench, measured.Sections[i].Markdown())
	}
	if o.record != "" {
		err = errors.Join(err, keep(o, measured))
	}
	if o.compare != "" {
		err = errors.Join(err, compare(o, measured))
	}
	return err
}

// measure runs the selected benchmarks.
func (b *bench) measure(ctx context.Context) (*report.Record, error) {
	measured := &report.Record{}
	var failed []error
	for i, one := range b.benchmarks {
		began := time.Now()
		b.progress.stage(fmt.Sprintf("%d/%d %s", i+1, len(b.benchmarks), one.name))
		s, err := one.run(b, ctx)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", one.name, err))
			if ctx.Err() != nil {
				break
			}
			b.progress.done("failed: %v", err)
			continue
		}
		s.Bench, s.Command, s.Load = one.name, b.command(one.name), b.load
		s.Date, s.Commit, s.Machine = time.Now().UTC().Format(time.DateOnly), b.commit, b.machine
		measured.Put(s)
		b.progress.done("done in %v", time.Since(began).Round(time.Second))
	}
	return measured, errors.Join(failed...)
}

// silent are the flags that change nothing of the figures.
var silent = []string{"only", "record", "page", "compare", "threshold"}

// command is what repeats one benchmark with these settings.
func (b *bench) command(name string) string {
	words := []string{"go run ./test/bench -only " + name}
	for i := 0; i < len(b.args); i++ {
		before := len(words)
		flag, _, attached := strings.Cut(strings.TrimLeft(b.args[i], "-"), "=")
		words = append(words, b.args[i])
		if !attached && i+1 < len(b.args) { // none of the flags that get here is a switch
			i++
			words = append(words, b.args[i])
		}
		if slices.Contains(silent, flag) || flag == "cases" && name != "throughput" || flag == "backlog-for" && name != "backlog" {
			words = words[:before]
		}
	}
	return strings.Join(words, " ")
}

// keep puts what was measured into the record, and the tables into the page.
func keep(o options, measured *report.Record) error {
	r, err := report.Load(o.record)
	if err != nil {
		return err
	}
	for _, s := range measured.Sections {
		r.Put(s)
	}
	var names []string
	for _, b := range benchmarks() {
		names = append(names, b.name)
	}
	r.Arrange(names)
	if err := r.Save(o.record); err != nil || o.page == "" {
		return err
	}
	return render(o)
}

// render writes the tables of the page from the record.
func render(o options) error {
	r, err := report.Load(o.record)
	if err != nil {
		return err
	}
	return report.FillFile(o.page, r, report.Targets)
}

// compare prints what changed against a record. Its error says that ratios are worse.
func compare(o options, measured *report.Record) error {
	old, err := report.Load(o.compare)
	if err != nil {
		return err
	}
	changes := report.Compare(old, measured)
	if len(changes) == 0 {
		return fmt.Errorf("%s has nothing to compare with", o.compare)
	}
	colour := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""
	if failed := report.PrintChanges(os.Stdout, changes, o.threshold, colour); failed > 0 {
		return fmt.Errorf("%d ratios are worse than in %s by more than %.0f %%, beyond the noise", failed, o.compare, 100*o.threshold)
	}
	return nil
}
