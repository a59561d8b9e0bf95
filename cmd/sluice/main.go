// Command sluice runs the pollers of AWS Lambda's Kafka event source mappings on one's own machines.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Set by the build.
var (
	version = "dev"
	commit  = ""
)

func main() { os.Exit(run(os.Args[1:])) }

// run carries out a command line and returns the exit code: 0 done, 1 refused or failed, 2 wrong usage.
func run(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(os.Stderr, "sluice: %v\n", err)
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(os.Stderr, "try: %s --help\n", usage.command)
		return 2
	}
	return 1
}

// exitCode is an error that has been told already.
type exitCode int

// Error is not shown.
func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// usageError is a command line that cannot be carried out.
type usageError struct {
	command string
	err     error
}

// Error says what is wrong with the command line.
func (e *usageError) Error() string { return e.err.Error() }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Run AWS Lambda's Kafka event source mappings on your own machines",
		Long: "Sluice reads Kafka topics, batches their records, invokes functions with them, retries or splits what\n" +
			"fails, and sends what still fails to a dead-letter topic: the pollers of AWS Lambda's Kafka event source\n" +
			"mappings, on your own machines.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{cmd.CommandPath(), err}
	})
	root.AddCommand(newRun(), newDemo(), newInit(), newValidate(), newFilter(), newSchema(), newStatus(), newExplain(), newVersion())
	root.InitDefaultCompletionCmd()
	strict(root)
	return root
}

// strict makes wrong usage of a command and those below it usage errors.
func strict(c *cobra.Command) {
	c.Args = noArguments
	c.PreRunE = requiredFlags
	c.SuggestionsMinimumDistance = 2
	if !c.Runnable() { // else its arguments would not be looked at
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, below := range c.Commands() {
		strict(below)
	}
}

// requiredFlags makes a missing flag a usage error.
func requiredFlags(cmd *cobra.Command, _ []string) error {
	if err := cmd.ValidateRequiredFlags(); err != nil {
		return &usageError{cmd.CommandPath(), err}
	}
	return nil
}

// noArguments refuses positional arguments: every command takes flags alone.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unexpected argument %q", args[0])
	if cmd.HasAvailableSubCommands() {
		err = fmt.Errorf("unknown command %q", args[0])
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
		}
	} else if cmd.Flags().Lookup("file") != nil {
		err = fmt.Errorf("%w; did you mean -f %s?", err, args[0])
	}
	return &usageError{cmd.CommandPath(), err}
}
