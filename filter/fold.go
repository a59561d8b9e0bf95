package filter

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// fold is equals-ignore-case, of a whole string or of one end. It is the pattern that is folded: each of its characters
// accepts its lower or its upper case by Unicode's full mappings, which may be several characters; the value is as it is. So
// ß accepts ß and SS, but not ss.
type fold struct {
	where foldWhere
	// ascii is the pattern in lower case where all of it is ASCII, steps is what its characters accept where not.
	ascii []byte
	steps []foldStep
}

type foldWhere byte

const (
	foldWhole foldWhere = iota
	foldPrefix
	foldSuffix
)

// foldStep is the two ways to write one character. They never begin alike unless they are equal, so that the first that fits
// is right.
type foldStep struct {
	lower, upper []byte
}

func newFold(text string, where foldWhere) fold {
	f := fold{where: where}
	if isASCII(text) {
		f.ascii = bytes.ToLower([]byte(text))
		return f
	}
	lower, upper := cases.Lower(language.Und), cases.Upper(language.Und)
	for _, c := range text {
		step := foldStep{[]byte(string(c)), []byte(string(c))}
		if c <= 0xffff { // beyond it the reference breaks characters in two; here they accept themselves
			step.lower = lower.Bytes([]byte(string(c)))
			step.upper = upper.Bytes([]byte(string(c)))
		}
		f.steps = append(f.steps, step)
	}
	return f
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (f *fold) accepts(s []byte) bool {
	if f.steps == nil {
		n := len(f.ascii)
		switch {
		case len(s) < n || f.where == foldWhole && len(s) > n:
			return false
		case f.where == foldSuffix:
			return equalFoldASCII(s[len(s)-n:], f.ascii)
		}
		return equalFoldASCII(s[:n], f.ascii)
	}
	if f.where == foldSuffix {
		for i := len(f.steps) - 1; i >= 0; i-- {
			step := f.steps[i]
			switch {
			case bytes.HasSuffix(s, step.lower):
				s = s[:len(s)-len(step.lower)]
			case bytes.HasSuffix(s, step.upper):
				s = s[:len(s)-len(step.upper)]
			default:
				return false
			}
		}
		return true
	}
	for _, step := range f.steps {
		switch {
		case bytes.HasPrefix(s, step.lower):
			s = s[len(step.lower):]
		case bytes.HasPrefix(s, step.upper):
			s = s[len(step.upper):]
		default:
			return false
		}
	}
	return f.where == foldPrefix || len(s) == 0
}

// equalFoldASCII compares s with a text of ASCII in lower case that is as long.
func equalFoldASCII(s, lower []byte) bool {
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
