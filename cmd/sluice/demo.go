package main

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sluicehq/sluice/cmd/sluice/demo"
)

// secondSignal is from when on after the first a second signal ends the demo at once; until then it may be the same one,
// delivered to the process and to its group.
const secondSignal = 300 * time.Millisecond

// recordsMax bounds --records, where a run would take hours.
const recordsMax = 1_000_000_000

func newDemo() *cobra.Command {
	o := demo.Options{}
	var logLevel string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole system in one process, on an embedded Kafka",
		Long: "Show the whole system in one process: an embedded Kafka, a producer, a sample function over HTTP, and the\n" +
			"service with a mapping between them. Some batches fail, and one record is poison: it ends on the dead-letter\n" +
			"topic. The summary at the end says what became of every record; the exit code is 0 if nothing was lost and\n" +
			"order held.",
		Example: "  sluice demo\n  sluice demo --records 1000000\n  sluice demo --keep",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Records < 1 || o.Records > recordsMax {
				return &usageError{cmd.CommandPath(), fmt.Errorf("--records %d; allowed are 1 to %d", o.Records, recordsMax)}
			}
			o.Out, o.Terminal = cmd.OutOrStdout(), isTerminal(cmd.OutOrStdout())
			o.Version, o.Commit, o.Log = version, builtFrom(), slog.New(slog.DiscardHandler)
			if logLevel != "" {
				var err error
				if o.Log, err = newLog(cmd.ErrOrStderr(), "text", logLevel); err != nil {
					return &usageError{cmd.CommandPath(), err}
				}
				o.Terminal = o.Terminal && !isTerminal(cmd.ErrOrStderr()) // bars and log lines do not mix
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			go func() {
				<-ctx.Done()
				time.Sleep(secondSignal)
				stop()
			}()
			return demo.Run(ctx, o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Records, "records", 100_000, "how many records are produced")
	f.BoolVar(&o.Keep, "keep", false, "go on afterwards, with a slow producer, until Ctrl-C")
	f.StringVar(&o.Listen, "listen", "", "address of the admin API (default 127.0.0.1:8440, or a free port where that is taken)")
	f.StringVar(&logLevel, "log-level", "", "show the service's log too: debug, info, warn or error")
	return cmd
}

// isTerminal says whether a reader or writer is one.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
