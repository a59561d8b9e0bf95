// Command minimal is what Sluice is measured against: the least program that reads a topic in a consumer group, sends
// batches as Lambda's Kafka event to a function, in order per partition, and commits once a second. Same Kafka client and
// fetch options, same event encoder, same HTTP Transport, same number of calls at once; no retries, no metrics, no
// windows, no caps, no drain.
//
// It is meant to be as fast as such a program can be: slowing it down is a defect.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
)

func main() {
	var c config
	brokers := flag.String("brokers", "", "bootstrap servers, parted by commas")
	flag.StringVar(&c.topic, "topic", "", "topic")
	flag.StringVar(&c.group, "group", "", "consumer group")
	flag.StringVar(&c.url, "url", "", "the function")
	flag.IntVar(&c.batch, "batch", 100, "records of a batch")
	flag.Int64Var(&c.records, "records", 0, "records after which it ends; 0: it runs until it is killed")
	count := flag.Bool("count", false, "only count the records, and print how many a second: between 5 and 95 % of them")
	profile := flag.String("cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	c.brokers = strings.Split(*brokers, ",")
	do := func() error { return run(context.Background(), c) }
	if *count {
		do = func() error { return counted(context.Background(), c) }
	}
	if err := profiled(*profile, do); err != nil {
		fmt.Fprintln(os.Stderr, "minimal:", err)
		os.Exit(1)
	}
}

func profiled(file string, f func() error) error {
	if file == "" {
		return f()
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return f()
}
