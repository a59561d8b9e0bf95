package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/config"
)

func newValidate() *cobra.Command {
	var files []string
	cmd := &cobra.Command{
		Use:   "validate -f FILE...",
		Short: "Check a configuration and list every mistake",
		Long: "Check a configuration without connecting to anything. Every mistake is listed, with file, line and column,\n" +
			"the field, what is wrong and what is allowed.",
		Example: "  sluice validate -f sluice.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(files)
			if err != nil {
				return told(cmd.ErrOrStderr(), err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "valid: %s, %s, %s\n",
				plural(len(c.Mappings), "mapping"), plural(len(c.Functions), "function"), plural(len(c.Clusters), "cluster"))
			return nil
		},
	}
	fileFlag(cmd, &files)
	return cmd
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
