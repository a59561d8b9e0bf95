// Command bench measures Sluice on this machine: beside the least loop that does the same work where there is one
// (package minimal), alone where not. It runs benchmarks by name, prints their tables in Markdown, keeps them in a
// record, and compares a run with it.
//
//	go run ./test/bench -list                                       # the benchmarks
//	go run ./test/bench                                             # all of them
//	go run ./test/bench -only throughput -cases 100x1KiB -runs 3    # some, shorter
//	go run ./test/bench -record docs/bench.json -page docs/PERFORMANCE.md   # into the record and the page: make bench
//	go run ./test/bench -compare docs/bench.json                    # against the record: make bench-compare
//	go run ./test/bench -render -record docs/bench.json -page docs/PERFORMANCE.md   # the page from the record
//
// Everything that takes part is a process of its own: the broker (package broker), the function (noop, acting, pulse),
// the loop (minimal) and sluice. What stands side by side is measured by turns, and ratios and differences are taken
// within the pairs before the median: what disturbs the machine for a while disturbs both.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parseOptions(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
	case o.list:
		list(os.Stdout)
	case o.render:
		err = render(o)
	default:
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
