// Command profiled runs a Sluice configuration until its lag is zero, as «sluice run --until-lag-zero» does, and
// writes a CPU profile of it. The bench runs it in Sluice's place under -profile.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/service"
	"github.com/sluicehq/sluice/config"
)

func main() {
	file := flag.String("f", "", "configuration")
	profile := flag.String("cpuprofile", "", "file for the profile")
	flag.Parse()
	if err := run(*file, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "profiled:", err)
		os.Exit(1)
	}
}

func run(file, profile string) error {
	out, err := os.Create(profile)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	c, err := config.Load([]string{file}, config.Options{LookupEnv: os.LookupEnv})
	if err != nil {
		return err
	}
	s, err := service.New(c, service.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	ctx := context.Background()
	if err := s.Start(ctx); err != nil {
		return err
	}
	if err := s.Controller().UntilLagZero(ctx); err != nil {
		return err
	}
	stop, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return s.Stop(stop)
}
