package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/admin/client"
	"github.com/sluicehq/sluice/admin/render"
)

func newExplain() *cobra.Command {
	var o asking
	var mapping, partition string
	cmd := &cobra.Command{
		Use:   "explain --mapping M",
		Short: "Say why a mapping is not moving",
		Long: "Say why a mapping, or one of its partitions, is not moving: which record it waits for, since when, with which\n" +
			"last error, and when the next attempt is due.",
		Example: "  sluice explain --mapping orders\n  sluice explain --mapping orders --partition 3\n" +
			"  sluice explain --mapping orders --partition orders-3 -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.client(cmd)
			if err != nil {
				return err
			}
			e, err := c.Explain(cmd.Context(), mapping, partition)
			if err != nil {
				return err
			}
			if o.output == "json" {
				return printJSON(cmd.OutOrStdout(), e)
			}
			return render.Explain(cmd.OutOrStdout(), e)
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.StringVarP(&mapping, "mapping", "m", "", "the mapping's name or UUID")
	f.StringVarP(&partition, "partition", "p", "", "TOPIC-NUMBER (orders-3) or NUMBER (3); all without it")
	_ = cmd.MarkFlagRequired("mapping")                               // the flag is there
	_ = cmd.RegisterFlagCompletionFunc("mapping", o.completeMappings) // so it is
	return cmd
}

// completeMappings offers the names of the running service's mappings.
func (a *asking) completeMappings(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := client.New(a.endpoint)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := c.Status(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, m := range s.Mappings {
		names = append(names, m.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
