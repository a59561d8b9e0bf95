package filter

import (
	"fmt"
	"strings"
)

// Error is one thing that is wrong with a pattern.
type Error struct {
	// Pattern counts from 1.
	Pattern int
	// Path is the place as a JSON path, from $. It is empty where the pattern as a whole is meant.
	Path string
	// Column is the place in the pattern's text, in characters from 1; 0 where the pattern as a whole is meant.
	Column int
	// Message says what is wrong and what is allowed.
	Message string
}

// Error returns place and message, as in "pattern 1, $.value.a[0], column 17: …".
func (e Error) Error() string { return e.Place() + ": " + e.Message }

// Place returns where it is.
func (e Error) Place() string {
	place := fmt.Sprintf("pattern %d", e.Pattern)
	if e.Path != "" {
		place += ", " + e.Path
	}
	if e.Column > 0 {
		place += fmt.Sprintf(", column %d", e.Column)
	}
	return place
}

// Errors are all that is wrong with some patterns, in the order of their text.
type Errors []Error

// Error returns one line for each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return strings.Join(lines, "\n")
}
