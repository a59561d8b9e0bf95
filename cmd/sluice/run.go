package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/cmd/sluice/memory"
	"github.com/sluicehq/sluice/cmd/sluice/service"
	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/internal/lifecycle"
)

func newRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run -f FILE...",
		Short: "Run the mappings of the configuration",
		Long: "Run the mappings of the configuration until SIGTERM or SIGINT; what is in flight then has server.drainTimeout\n" +
			"to end. A second signal stops at once.",
		Example: "  sluice run -f sluice.yaml\n  sluice run -f conf.d --log-format json\n  sluice run -f sluice.yaml --until-lag-zero",
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	fileFlag(cmd, &o.files)
	f := cmd.Flags()
	f.BoolVar(&o.untilLagZero, "until-lag-zero", false, "end with 0 once every mapping has settled all that was there at start")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	f.DurationVar(&o.sessionTimeout, "session-timeout", 0, "after how long Kafka gives the partitions of a dead process away (default 45s)")
	return cmd
}

type runOptions struct {
	files               []string
	untilLagZero        bool
	logFormat, logLevel string
	sessionTimeout      time.Duration
}

// fileFlag adds -f, which names the configuration.
func fileFlag(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVarP(files, "file", "f", nil, "a configuration file, or a folder of them; may be given again")
	_ = cmd.MarkFlagRequired("file")
}

func (o *runOptions) run(cmd *cobra.Command) error {
	out := newLogWriter(cmd.ErrOrStderr())
	defer out.close()
	log, err := newLog(out, o.logFormat, o.logLevel)
	if err != nil {
		return &usageError{cmd.CommandPath(), err}
	}
	c, err := load(o.files)
	if err != nil {
		return told(cmd.ErrOrStderr(), err)
	}
	shares, err := memory.Of(c, memory.Look(c))
	if err != nil {
		return told(cmd.ErrOrStderr(), err)
	}
	if w := shares.Warning(); w != "" {
		log.Warn(w)
	}
	shares.Apply()
	s, err := service.New(c, service.Options{
		Version: version, Commit: commit, Log: log, SessionTimeout: o.sessionTimeout, Memory: shares,
	})
	if err != nil {
		return told(cmd.ErrOrStderr(), err)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	if err := s.Start(cmd.Context()); err != nil {
		return err
	}
	log.Info("running", "version", version, "mappings", len(c.Mappings), "memory", shares.Limit.String(), "listen", s.Addr().String())
	if len(c.Mappings) == 0 {
		log.Warn(noMappings)
	}
	return o.wait(s, c.Server.DrainTimeout, signals, log)
}

// wait returns when a signal came or the lag is zero, after the drain.
func (o *runOptions) wait(s *service.Service, drain time.Duration, signals <-chan os.Signal, log *slog.Logger) error {
	caught := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if o.untilLagZero {
		go func() {
			if s.Controller().UntilLagZero(ctx) == nil {
				close(caught)
			}
		}()
	}
	select {
	case sig := <-signals:
		log.Info("draining; a second signal stops at once", "signal", sig.String(), "drainTimeout", drain)
	case <-caught:
		log.Info("everything that was there at start is settled")
	case <-s.Done():
	}
	stop, cut := context.WithTimeout(context.Background(), drain)
	defer cut()
	go func() {
		// A wrapper that signals the process and its group delivers the first one twice at once.
		grace := time.Now().Add(secondSignal)
		for {
			select {
			case <-signals:
				if time.Now().Before(grace) {
					continue
				}
				log.Warn("second signal: stopping now")
				cut()
			case <-stop.Done():
			}
			return
		}
	}()
	err := s.Stop(stop)
	if errors.Is(err, lifecycle.ErrCut) {
		log.Warn("stopped before everything in flight had settled; it will be delivered again")
		if o.untilLagZero {
			return errors.New("stopped before everything had settled")
		}
		return nil
	}
	if err == nil && o.untilLagZero && ctx.Err() == nil {
		select {
		case <-caught:
		default:
			return errors.New("stopped before everything had settled")
		}
	}
	return err
}

// load reads the configuration with the environment of the process.
func load(files []string) (*config.Config, error) {
	return config.Load(files, config.Options{LookupEnv: os.LookupEnv})
}

// told prints an error of many lines and says that it was printed.
func told(w io.Writer, err error) error {
	fmt.Fprintln(w, err)
	return exitCode(1)
}

func newLog(w io.Writer, format, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level %q; allowed are debug, info, warn and error", level)
	}
	o := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, fmt.Errorf("--log-format %q; allowed are text and json", format)
}
