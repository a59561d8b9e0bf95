package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/cmd/sluice/connect"
	"github.com/sluicehq/sluice/cmd/sluice/memory"
	"github.com/sluicehq/sluice/config"
)

func newValidate() *cobra.Command {
	var files []string
	var try bool
	cmd := &cobra.Command{
		Use:   "validate -f FILE...",
		Short: "Check a configuration and list every mistake",
		Long: "Check a configuration. Every mistake is listed, with file, line and column, the field, what is wrong and what is\n" +
			"allowed. Nothing is connected to, unless --connect asks for it: then every cluster is logged in to, topics, consumer\n" +
			"groups and dead-letter topics are looked up with their access rights, and functions are connected to. No record is\n" +
			"read or written, no group joined, no function invoked.",
		Example: "  sluice validate -f sluice.yaml\n  sluice validate -f sluice.yaml --connect",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(files)
			if err != nil {
				return told(cmd.ErrOrStderr(), err)
			}
			shares, err := memory.Of(c, memory.Look(c))
			if err != nil {
				return told(cmd.ErrOrStderr(), err)
			}
			found := ""
			if try {
				if wrong := connect.Check(cmd.Context(), c, connect.Options{Progress: progress(cmd.ErrOrStderr())}); wrong != nil {
					return told(cmd.ErrOrStderr(), wrong)
				}
				found = "; all of them answer"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "valid: %s, %s, %s%s\n",
				plural(len(c.Mappings), "mapping"), plural(len(c.Functions), "function"), plural(len(c.Clusters), "cluster"), found)
			if len(c.Mappings) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+noMappings)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "memory: %s\n", shares)
			if w := shares.Warning(); w != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+w)
			}
			return nil
		},
	}
	fileFlag(cmd, &files)
	cmd.Flags().BoolVar(&try, "connect", false, "also try clusters, topics, access rights, destinations and functions")
	return cmd
}

// noMappings is what is strange about a configuration that is valid and empty.
const noMappings = "the configuration has no mappings: there is nothing to run"

// progress tells that checks go on, on a line of its own.
func progress(w io.Writer) func(done, total int, waiting []string) {
	return func(done, total int, waiting []string) {
		const most = 3
		more := ""
		if len(waiting) > most {
			waiting, more = waiting[:most], " and others"
		}
		fmt.Fprintf(w, "connecting: %d of %d tried, waiting for %s%s\n", done, total, strings.Join(waiting, ", "), more)
	}
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of the configuration, for editors",
		Example: "  sluice schema > sluice.schema.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema())
			return err
		},
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
