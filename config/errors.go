package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/mapping/field"
)

// Error is one mistake in a configuration.
type Error struct {
	// File is the path as it was given or found in a folder. Line and Col count from 1; both are 0 where the file as a whole
	// is meant.
	File      string
	Line, Col int
	// Path says which value: «mappings[0].batchSize», counted within its file; empty where YAML itself is broken.
	Path string
	// Msg says what is wrong and what is allowed.
	Msg string
	// Hint says what to do about it; empty where Msg says it all.
	Hint string
}

// Error returns «file:line:col: path: what is wrong; hint».
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Col)
	}
	for _, part := range []string{e.Path, e.Msg} {
		if part != "" {
			b.WriteString(": " + part)
		}
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Errors are all the mistakes of a configuration, sorted by place, each once.
type Errors []*Error

// Error returns one line for each.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns them one by one, for errors.As.
func (es Errors) Unwrap() []error {
	list := make([]error, len(es))
	for i, e := range es {
		list[i] = e
	}
	return list
}

func (es *Errors) add(at field.Place, path, hint, format string, args ...any) {
	*es = append(*es, &Error{File: at.File, Line: at.Line, Col: at.Col, Path: path, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

func (es *Errors) addProblems(problems []field.Problem) {
	for _, p := range problems {
		es.add(p.Place, p.Path, p.Hint, "%s", p.Message)
	}
}

// ofMapping is what the paths of the same value in several mappings differ by.
var ofMapping = regexp.MustCompile(`^(defaults|mappings\[[0-9]+\])\.`)

// sorted returns the mistakes by place, each once: what stands in defaults or behind an anchor is found again in every
// mapping that takes it in, and counts for the first.
func (es Errors) sorted() Errors {
	slices.SortFunc(es, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Col-b.Col, strings.Compare(a.Path, b.Path), strings.Compare(a.Msg, b.Msg))
	})
	type key struct {
		file       string
		line, col  int
		field, msg string
	}
	seen := map[key]bool{}
	return slices.DeleteFunc(es, func(e *Error) bool {
		k := key{e.File, e.Line, e.Col, ofMapping.ReplaceAllString(e.Path, ""), e.Msg}
		if e.Line == 0 || !seen[k] {
			seen[k] = true
			return false
		}
		return true
	})
}

// cut keeps the first ErrorsMax and says how many there were.
func (es Errors) cut() Errors {
	if len(es) <= ErrorsMax {
		return es
	}
	last := es[ErrorsMax]
	return append(es[:ErrorsMax:ErrorsMax], &Error{File: last.File, Line: last.Line, Col: last.Col, Msg: fmt.Sprintf("from here on %d more mistakes", len(es)-ErrorsMax)})
}
