package field

import (
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

const (
	// nearestMax is the longest word that [Nearest] compares, in bytes: the comparison takes the product of both lengths.
	nearestMax = 64
	// nearestEdits is the most edits that it takes for a slip.
	nearestEdits = 3
)

// Nearest returns the one of known that word was probably meant to be: the fewest edits away, letter case aside, and no more
// than a third of the word's length and 3 (but 1 for any word, 2 from four letters on). It returns "" where none is near. Of several
// equally near it returns the first in alphabetical order.
func Nearest(word string, known []string) string {
	if word == "" || len(word) > nearestMax {
		return ""
	}
	limit := min(nearestEdits, max(1, min(2, len(word)/2), len(word)/3))
	best, bestDistance := "", limit+1
	lower := strings.ToLower(word)
	for _, k := range slices.Sorted(slices.Values(known)) {
		if len(k) > len(word)+limit || len(k) < len(word)-limit {
			continue // the comparison is dear, and this many edits are too many
		}
		if d := levenshtein.Distance(lower, strings.ToLower(k), nil); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// DidYouMean returns «did you mean X?» for the nearest of known, or "".
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}
