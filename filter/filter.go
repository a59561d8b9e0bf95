package filter

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// Bounds of what is compiled and matched.
const (
	// PatternsMax is how many patterns a mapping may have (AWS, FilterCriteria; more by quota request).
	PatternsMax = 5
	// PatternCharsMax is the longest pattern, in characters (AWS, Filter).
	PatternCharsMax = 4096
	// BranchesMax is how many branches the $or of one pattern may multiply to. The reference has no bound, and 4 096
	// characters can ask for more than 2^140.
	BranchesMax = 1000
	// FieldsMax is how many fields one branch may have, as in the reference.
	FieldsMax = 256
	// DepthMax is how deep a document may nest, as in the reference. What is deeper is not JSON here.
	DepthMax = 1000
)

// Mismatch is what holds of a record whose key or value has another format than a pattern: JSON where the pattern has a list
// of tests, text where it names fields, or neither.
type Mismatch int

const (
	// MismatchPass ignores what the pattern says of it, as AWS documents («filters on the other metadata properties only»).
	MismatchPass Mismatch = iota
	// MismatchDrop lets the pattern not match.
	MismatchDrop
)

// Rules say how patterns are compiled. The zero value is Lambda's.
type Rules struct {
	// Mismatch is for keys and values that do not fit a pattern.
	Mismatch Mismatch
	// Strict refuses operators that Lambda's own table leaves out, and fields other than value.
	Strict bool
	// AnyField allows names at the top that no record has. It is for matching documents (MatchDocument).
	AnyField bool
}

// Filter is a compiled list of patterns. It may be used from any goroutine.
type Filter struct {
	rules    Rules
	fields   []field // ascending by path
	branches []branch
	root     *node
	parts    [2]part // of key and value
	of       metadata
	absences bool // a branch has a field that may be absent
	scratch  sync.Pool
}

// field is one path with its tests. Equal fields of several branches are one.
type field struct {
	path     string
	tests    *tests
	branches []int32 // that need it
}

// branch is a list of fields that must all hold.
type branch struct {
	fields   []int32 // ascending by path
	absences bool    // some of them may be absent
}

// Compile compiles patterns for records by Lambda's rules. No patterns match everything. The error is an Errors.
func Compile(patterns ...string) (*Filter, error) { return Rules{}.Compile(patterns...) }

// Compile compiles patterns. The error is an Errors, with everything that is wrong with any of them.
func (r Rules) Compile(patterns ...string) (*Filter, error) {
	var errs Errors
	if len(patterns) > PatternsMax {
		errs = append(errs, Error{Pattern: PatternsMax + 1, Message: fmt.Sprintf("there are %d patterns; allowed: up to %d", len(patterns), PatternsMax)})
	}
	var all []clauses
	for i, text := range patterns {
		p := parser{rules: r, pattern: i + 1, text: text}
		switch n := utf8.RuneCountInString(text); {
		case n > PatternCharsMax:
			p.fail(nil, "", "the pattern has %d characters; allowed: up to %d", n, PatternCharsMax)
		case !utf8.ValidString(text):
			p.fail(nil, "", "the pattern is not UTF-8")
		default:
			all = append(all, p.parse()...)
		}
		errs = append(errs, p.errs...)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return newFilter(r, all), nil
}
