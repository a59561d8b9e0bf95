package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/admin/client"
	"github.com/sluicehq/sluice/admin/render"
	"github.com/sluicehq/sluice/controller"
)

// asking is what the commands have in common that ask a running service.
type asking struct {
	endpoint string
	output   string
}

// flags adds --endpoint-url and -o.
func (a *asking) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.endpoint, "endpoint-url", client.DefaultEndpoint, "where the service listens")
	f.StringVarP(&a.output, "output", "o", "text", "text or json")
	complete(cmd, "output", "text", "json")
}

// client checks the flags.
func (a *asking) client(cmd *cobra.Command) (*client.Client, error) {
	if a.output != "text" && a.output != "json" {
		return nil, &usageError{cmd.CommandPath(), fmt.Errorf("--output %q; allowed are text and json", a.output)}
	}
	c, err := client.New(a.endpoint)
	if err != nil {
		return nil, &usageError{cmd.CommandPath(), fmt.Errorf("--endpoint-url: %w", err)}
	}
	return c, nil
}

// complete makes the shell offer values of a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
}

type statusOptions struct {
	asking
	watch, why bool
	every      time.Duration // between two looks
}

func newStatus() *cobra.Command {
	o := statusOptions{every: time.Second}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the mappings of a running service",
		Long: "Show the mappings of a running service: state, pollers, lag, records a second, what is in flight, failures, and\n" +
			"the partitions that stand still. SETTLED, DEAD and DROPPED count records since the service started; FAILED ATTEMPTS counts a\n" +
			"record again each time that a call with it fails. --why adds the last scaling decisions and what waits for what.",
		Example: "  sluice status\n  sluice status --watch --why\n  sluice status -o json --endpoint-url http://127.0.0.1:9440",
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.watch, "watch", "w", false, "again every second, until Ctrl-C")
	f.BoolVar(&o.why, "why", false, "also the last scaling decisions, and what each mapping waits for")
	return cmd
}

func (o *statusOptions) run(cmd *cobra.Command) error {
	c, err := o.client(cmd)
	if err != nil {
		return err
	}
	if !o.watch {
		s, err := c.Status(cmd.Context())
		if err != nil {
			return err
		}
		return o.print(cmd.OutOrStdout(), s)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return o.follow(ctx, cmd.OutOrStdout(), c)
}

// follow asks and prints until ctx ends. A service that was there and does not answer may come back.
func (o *statusOptions) follow(ctx context.Context, out io.Writer, c *client.Client) error {
	seen := false
	for {
		var b bytes.Buffer
		s, err := c.Status(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			seen = true
			err = o.print(&b, s)
		case seen:
			fmt.Fprintf(&b, "%s\n%v\n", time.Now().Format(time.TimeOnly), err)
			err = nil
		}
		if err != nil {
			return err
		}
		if err := redraw(out, b.Bytes(), o.output == "text"); err != nil {
			return err
		}
		select {
		case <-time.After(o.every):
		case <-ctx.Done():
			return nil
		}
	}
}

// redraw replaces what a terminal shows; elsewhere, one answer follows the other.
func redraw(out io.Writer, text []byte, apart bool) error {
	const home = "\x1b[H\x1b[2J"
	switch {
	case isTerminal(out):
		text = append([]byte(home), text...)
	case apart:
		text = append(text, '\n')
	}
	_, err := out.Write(text)
	return err
}

func (o *statusOptions) print(out io.Writer, s controller.Status) error {
	switch {
	case o.output == "json":
		return printJSON(out, s)
	case o.why:
		return render.StatusWhy(out, s, time.Now())
	}
	return render.Status(out, s, time.Now())
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
