// Command scripted-function is the scripted HTTP function as a process of its own, for runs in which everything else is
// killed.
//
//	scripted-function -listen 127.0.0.1:9000 -log attempts.jsonl -rule 'fail status=503 share=0.05' -rule 'fail contains=poison'
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sluicehq/sluice/test/function"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "scripted-function:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	var config function.Config
	script := &config.Script
	flag.StringVar(&config.Listen, "listen", "127.0.0.1:9000", "address to listen on")
	log := flag.String("log", "", "file to which every attempt is appended, as JSON lines")
	flag.Uint64Var(&script.Seed, "seed", 1, "of shares and jitter")
	flag.DurationVar(&script.Delay, "delay", 0, "before every answer")
	flag.DurationVar(&script.Jitter, "jitter", 0, "added to the delay at random, up to this")
	flag.Int64Var(&script.BodyMax, "body-max", 0, "bytes above which an event is refused with 413 (default 64 MiB)")
	flag.Func("rule", "what happens to which requests, such as 'fail status=503 share=0.05'; repeats, the first that fits decides", func(text string) error {
		rule, err := function.ParseRule(text)
		script.Rules = append(script.Rules, rule)
		return err
	})
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if *log != "" {
		file, err := os.OpenFile(*log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		config.Log = file
	}
	f, err := function.Start(config)
	if err != nil {
		return err
	}
	fmt.Println("listening on", f.URL())
	<-ctx.Done()
	err = f.Close()
	t := f.Totals()
	fmt.Printf("%d attempts (%d failed, %d refused), %d records, %d bytes, at most %d at once\n",
		t.Attempts, t.Failed, t.Refused, t.Records, t.Bytes, t.ConcurrentMax)
	return err
}
