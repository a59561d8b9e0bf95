// Command bench compares Sluice with a minimal loop on this machine: the same topic of a real Kafka, the same function,
// the same number of calls at once. It prints a table in Markdown, and writes it into a page with -write.
//
//	go run ./test/bench                               # all cases: batches of 1, 100, 1000 × 100 B, 1 KiB, 10 KiB
//	go run ./test/bench -cases 100x1KiB,1x1KiB -runs 5
//	go run ./test/bench -cases 100x1KiB -profile /tmp/profiles
//
// Everything that takes part is a process of its own: the broker (package broker), the function (noop), the loop
// (minimal) and sluice. Runs are interleaved, loop and Sluice by turns, and a pair's ratio is taken before the median: what
// disturbs the machine for a while disturbs both.
//
// Both read in Stream mode from the start of the topic, in a new group, and send full batches: the backlog is there
// before they start, the batching window is Sluice's default. Stream has one call at once in a partition, so both have as
// many as the topic has partitions; Sluice has two slots to spare.
//
// # What is measured
//
// Speed is what the function saw: 90 % of the records over the time between 5 % and 95 % of the bytes (package timeline).
// CPU and peak memory are the system's account of the process, from its start to its end. Broker and function are
// not in it, but share the machine: where they are the bottleneck, speed says less than CPU. After each run the group's
// commits must be at the ends of all partitions, and the function must have been sent the right number of bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parseOptions(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err == nil:
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	cases   []benchCase
	runs    int
	scale   float64
	page    string // to write the table into; empty for none
	profile string // folder for CPU profiles; empty for none
	args    []string
}

func parseOptions(args []string) (options, error) {
	o := options{args: args}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	cases := f.String("cases", "", "cases as BATCHxSIZE, parted by commas, such as 100x1KiB (default: all nine)")
	f.IntVar(&o.runs, "runs", 3, "pairs of runs in each case")
	f.Float64Var(&o.scale, "scale", 1, "factor on the number of records")
	f.StringVar(&o.page, "write", "", "page whose table to replace, between its bench comments")
	f.StringVar(&o.profile, "profile", "", "folder for CPU profiles of both; the figures then are not for the record")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.runs < 1 || o.scale <= 0 {
		return o, errors.New("-runs must be at least 1 and -scale more than 0")
	}
	var err error
	o.cases, err = parseCases(*cases)
	return o, err
}

// run measures and prints.
func run(ctx context.Context, o options) (err error) {
	load := loadAverage()
	b, err := openBench(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	machine := machineFacts(b.kafka, load)
	rows, err := b.measure(ctx)
	if len(rows) == 0 {
		return err
	}
	text := markdown(strings.Join(append([]string{"go run ./test/bench"}, o.args...), " "), machine, rows)
	fmt.Print(text)
	if err != nil || o.page == "" {
		return err
	}
	return writePage(o.page, text)
}
