package field

import "fmt"

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	// Place is where it stands: the value where that is wrong, the key where it may not be there, the object where something
	// is missing from it.
	Place Place
	// Path says which value: «mappings[0].batchSize».
	Path string
	// Message says what is wrong and what is allowed.
	Message string
	// Hint says what to do about it, where there is more to say than what is allowed; else empty.
	Hint string
}

// String returns the problem without its place: «path: message; hint».
func (p Problem) String() string {
	s := p.Message
	if p.Path != "" {
		s = p.Path + ": " + s
	}
	if p.Hint != "" {
		s += "; " + p.Hint
	}
	return s
}

// problems gathers what is wrong.
type problems []Problem

func (ps *problems) add(place Place, path, hint, format string, args ...any) {
	*ps = append(*ps, Problem{Place: place, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
}
