package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/filter"
	"github.com/sluicehq/sluice/mapping"
)

func newFilter() *cobra.Command {
	var o filterOptions
	cmd := &cobra.Command{
		Use:   "filter --pattern P [--event E]",
		Short: "Say whether a filter pattern compiles and matches",
		Long: "Say whether a filter pattern compiles and, with --event, whether it matches a document: what a pattern sees of a\n" +
			"record, {\"value\": …}. Several patterns are joined by «or». @FILE reads a pattern or a document from a file, - from\n" +
			"standard input. Prints «match» or «no match»; exits with 0 for a match or a pattern that compiles, 1 for no match, 2\n" +
			"where pattern or document are wrong.\n\n" +
			"With --jsonl it reads lines {\"id\", \"pattern\", \"event\"}, pattern and event as JSON text in strings, from standard\n" +
			"input, and prints a line {\"id\", \"valid\", \"match\", \"error\"} for each, and exits with 0. There it is about the\n" +
			"language alone: patterns may name any field, and no rule for other formats applies.",
		Example: `  sluice filter --pattern '{"value":{"type":["order"]}}' --event '{"value":{"type":"order"}}'` + "\n" +
			`  sluice filter --pattern @pattern.json --event @event.json` + "\n" +
			`  sluice filter --jsonl < vectors.jsonl`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.event.given = cmd.Flags().Changed("event")
			if o.jsonl {
				for _, flag := range []string{"pattern", "event", "strict", "mismatch"} {
					if cmd.Flags().Changed(flag) {
						return &usageError{cmd.CommandPath(), fmt.Errorf("--%s does not go with --jsonl, which takes patterns and events from standard input", flag)}
					}
				}
				return filterLines(cmd.InOrStdin(), cmd.OutOrStdout())
			}
			if len(o.patterns) == 0 {
				return &usageError{cmd.CommandPath(), errors.New("--pattern is missing; it, or --jsonl, says what to compile")}
			}
			err := o.run(cmd)
			var code exitCode
			if err == nil || errors.As(err, &code) {
				return err
			}
			for line := range strings.Lines(err.Error()) {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "sluice: %s\n", strings.TrimSuffix(line, "\n"))
			}
			return exitCode(2)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.patterns, "pattern", "p", nil, "a pattern as JSON, @FILE or -; again for more, joined by «or»")
	f.StringVarP(&o.event.text, "event", "e", "", "a document as JSON, @FILE or -")
	f.BoolVar(&o.jsonl, "jsonl", false, "read lines of patterns and events from standard input")
	f.StringVar(&o.mismatch, "mismatch", string(mapping.FilterMismatchPass), "pass or drop: filterMismatch, for a value of another format than the pattern")
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
	mismatch      string
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
	mismatch := mapping.FilterMismatch(o.mismatch)
	if mismatch != mapping.FilterMismatchPass && mismatch != mapping.FilterMismatchDrop {
		return fmt.Errorf("--mismatch %s is not allowed; allowed: pass, drop", o.mismatch)
	}
	f, err := filter.Rules{Strict: o.strict, Mismatch: mismatch.Rule()}.Compile(patterns...)
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
	r, err := recordOf(event)
	if err != nil {
		return err
	}
	if f.Match(r) {
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
	Pattern json.RawMessage `json:"pattern"`
	Event   json.RawMessage `json:"event"`
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
	pattern, ok := jsonText(q.Pattern)
	if !ok {
		a.Error = fmt.Sprintf("line %d: pattern is missing or no string; allowed: JSON text in a string", n)
		return a
	}
	f, err := filter.Rules{AnyField: true}.Compile(pattern)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	a.Valid = true
	if q.Event == nil {
		return a
	}
	event, ok := jsonText(q.Event)
	if ok {
		a.Match, ok = f.MatchDocument([]byte(event))
	}
	if !ok {
		a.Error = fmt.Sprintf("line %d: event is not a JSON object in a string", n)
	}
	return a
}

func jsonText(raw json.RawMessage) (text string, ok bool) {
	if raw == nil {
		return "", false
	}
	err := json.Unmarshal(raw, &text)
	return text, err == nil && string(raw) != "null"
}
