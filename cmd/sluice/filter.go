package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/filter"
)

func newFilter() *cobra.Command {
	var o filterOptions
	cmd := &cobra.Command{
		Use:   "filter --pattern P [--event E]",
		Short: "Say whether a filter pattern compiles and matches",
		Long: "Say whether a filter pattern compiles and, with --event, whether it matches a document: what a pattern sees of a\n" +
			"record, {\"value\": …}. Several patterns are joined by «or». @FILE reads a pattern or a document from a file, - from\n" +
			"standard input. Prints «match» or «no match»; exits with 0 for a match or a pattern that compiles, 1 otherwise.\n\n" +
			"With --jsonl it reads lines {\"id\", \"pattern\", \"event\"}, pattern and event as JSON text in strings, from standard\n" +
			"input, and prints a line {\"id\", \"valid\", \"match\", \"error\"} for each; patterns may name any field there.",
		Example: `  sluice filter --pattern '{"value":{"type":["order"]}}' --event '{"value":{"type":"order"}}'` + "\n" +
			`  sluice filter --pattern @pattern.json --event @event.json` + "\n" +
			`  sluice filter --jsonl < vectors.jsonl`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.event.given = cmd.Flags().Changed("event")
			if o.jsonl {
				if len(o.patterns) > 0 || o.event.given {
					return &usageError{cmd.CommandPath(), errors.New("--jsonl takes patterns and events from standard input, not from flags")}
				}
				return filterLines(cmd.InOrStdin(), cmd.OutOrStdout())
			}
			if len(o.patterns) == 0 {
				return &usageError{cmd.CommandPath(), errors.New("--pattern is missing; it, or --jsonl, says what to compile")}
			}
			return o.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.patterns, "pattern", "p", nil, "a pattern as JSON, @FILE or -; again for more, joined by «or»")
	f.StringVarP(&o.event.text, "event", "e", "", "a document as JSON, @FILE or -")
	f.BoolVar(&o.jsonl, "jsonl", false, "read lines of patterns and events from standard input")
	f.BoolVar(&o.strict, "strict", false, "refuse what Lambda's own table of operators leaves out, and fields other than value")
	return cmd
}

type filterOptions struct {
	patterns []string
	event    struct {
		text  string
		given bool
	}
	jsonl, strict bool
}

func (o *filterOptions) run(cmd *cobra.Command) error {
	patterns := make([]string, len(o.patterns))
	for i, given := range o.patterns {
		text, err := flagText(cmd, given)
		if err != nil {
			return err
		}
		patterns[i] = text
	}
	f, err := filter.Rules{Strict: o.strict}.Compile(patterns...)
	if err != nil {
		return err
	}
	if !o.event.given {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "the pattern compiles")
		return err
	}
	event, err := flagText(cmd, o.event.text)
	if err != nil {
		return err
	}
	match, ok := f.MatchDocument([]byte(event))
	switch {
	case !ok:
		return errors.New(`the event is not a JSON object; allowed: a document such as {"value": {"type": "order"}}`)
	case match:
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "match")
		return err
	}
	_, _ = fmt.Fprintln(cmd.OutOrStdout(), "no match")
	return exitCode(1)
}

// flagText returns the text of a flag: itself, that of a file behind @, or standard input for -.
func flagText(cmd *cobra.Command, flag string) (string, error) {
	switch {
	case flag == "-":
		text, err := io.ReadAll(cmd.InOrStdin())
		return string(text), err
	case len(flag) > 0 && flag[0] == '@':
		text, err := os.ReadFile(flag[1:])
		return string(text), err
	}
	return flag, nil
}

// lineMax is the longest line that is read, in bytes.
const lineMax = 64 << 20

type filterQuestion struct {
	ID      json.RawMessage `json:"id"`
	Pattern *string         `json:"pattern"`
	Event   *string         `json:"event"`
}

type filterAnswer struct {
	ID    json.RawMessage `json:"id,omitempty"`
	Valid bool            `json:"valid"`
	Match bool            `json:"match"`
	Error string          `json:"error,omitempty"`
}

// filterLines answers lines. A line that is no question is answered with an error, and the others go on.
func filterLines(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, lineMax)
	buffered := bufio.NewWriter(out)
	answers := json.NewEncoder(buffered)
	answers.SetEscapeHTML(false)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := answers.Encode(filterLine(n, lines.Bytes())); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), buffered.Flush())
}

func filterLine(n int, line []byte) filterAnswer {
	var q filterQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return filterAnswer{Error: fmt.Sprintf("line %d: %v", n, err)}
	}
	a := filterAnswer{ID: q.ID}
	if q.Pattern == nil {
		a.Error = fmt.Sprintf("line %d: pattern is missing; allowed: JSON text in a string", n)
		return a
	}
	f, err := filter.Rules{AnyField: true}.Compile(*q.Pattern)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	a.Valid = true
	if q.Event != nil {
		a.Match, _ = f.MatchDocument([]byte(*q.Event))
	}
	return a
}
