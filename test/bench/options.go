package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

type options struct {
	benchmarks []benchmark
	cases      []benchCase
	runs       int
	scale      float64
	backlogFor time.Duration
	record     string  // file to keep the figures in; empty for none
	page       string  // file to write the tables into; empty for none
	compare    string  // record to compare with; empty for none
	threshold  float64 // share by which a ratio may be worse
	profile    string  // folder for CPU profiles; empty for none
	list       bool
	render     bool
	args       []string
}

func parseOptions(args []string) (options, error) {
	o := options{args: args}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.BoolVar(&o.list, "list", false, "list the benchmarks")
	only := f.String("only", "", "benchmarks to run, parted by commas (default: all)")
	cases := f.String("cases", "", "throughput: cases as BATCHxSIZE, parted by commas, such as 100x1KiB (default: seven)")
	f.IntVar(&o.runs, "runs", 5, "runs, or pairs of runs, of each measurement")
	f.Float64Var(&o.scale, "scale", 1, "factor on numbers of records and on times; below 1 for a quick look")
	f.DurationVar(&o.backlogFor, "backlog-for", 10*time.Minute, "backlog: how long to watch")
	f.StringVar(&o.record, "record", "", "record to put the figures into")
	f.StringVar(&o.page, "page", "", "page whose tables to write from the record (needs -record)")
	f.StringVar(&o.compare, "compare", "", "record to compare with; ends with 1 if a ratio is worse")
	f.Float64Var(&o.threshold, "threshold", 0.10, "with -compare: the share by which a ratio may be worse")
	f.StringVar(&o.profile, "profile", "", "throughput: folder for CPU profiles of both; the figures then are not for the record")
	f.BoolVar(&o.render, "render", false, "measure nothing: write the page from the record")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.runs < 1 || o.scale <= 0:
		return o, errors.New("-runs must be at least 1 and -scale more than 0")
	case o.threshold <= 0:
		return o, errors.New("-threshold must be more than 0")
	case (o.page != "" || o.render) && o.record == "" || o.render && o.page == "":
		return o, errors.New("-page needs -record, and -render both")
	case o.profile != "" && (o.record != "" || o.compare != ""):
		return o, errors.New("-profile: figures under a profile are not for -record or -compare")
	}
	var err error
	if o.benchmarks, err = selected(*only); err != nil {
		return o, err
	}
	o.cases, err = parseCases(*cases)
	return o, err
}

// seconds is a time under -scale, but never so short that nothing could be seen.
func (o *options) seconds(s float64) time.Duration {
	return max(time.Duration(s*o.scale*float64(time.Second)), 2*time.Second)
}

// count is a number under -scale, at least 1.
func (o *options) count(n int) int { return max(int(float64(n)*o.scale), 1) }

// selected are the benchmarks of a list of names, in their own order; all of them where it is empty.
func selected(names string) ([]benchmark, error) {
	if names == "" {
		return benchmarks(), nil
	}
	wanted := map[string]bool{}
	for _, name := range strings.Split(names, ",") {
		wanted[strings.TrimSpace(name)] = true
	}
	var some []benchmark
	for _, b := range benchmarks() {
		if wanted[b.name] {
			some = append(some, b)
			delete(wanted, b.name)
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("-only: there is no benchmark %q; -list lists them", name)
	}
	return some, nil
}

func list(w io.Writer) {
	for _, b := range benchmarks() {
		fmt.Fprintf(w, "%-12s %s\n", b.name, b.about)
	}
}
