package arch

import "fmt"

// LinesMax is where a file must be looked at for the second noun in it.
const LinesMax = 500

// longAllowed are the files that may be longer, with the reason. A long table or wire structure is one.
var longAllowed = map[string]string{}

// vague are folder names that say nothing about what is inside.
var vague = map[string]bool{"util": true, "utils": true, "common": true, "helper": true, "helpers": true, "misc": true, "shared": true}

// Sizes returns a complaint for every file longer than LinesMax without a reason, and for every reason without such a
// file. Generated files may have any length.
func Sizes(tree *Tree) []string {
	var complaints []string
	long := map[string]bool{}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Files {
			if file.Lines <= LinesMax || generated(file) {
				continue
			}
			long[file.Path] = true
			if longAllowed[file.Path] == "" {
				complaints = append(complaints, fmt.Sprintf("%s: %d lines; split it at its second noun, "+
					"or list it in internal/arch/sizes.go with the reason (more than %d need one)", file.Path, file.Lines, LinesMax))
			}
		}
	}
	for p := range longAllowed {
		if !long[p] {
			complaints = append(complaints, fmt.Sprintf("%s: listed in internal/arch/sizes.go, but not longer than %d lines", p, LinesMax))
		}
	}
	return complaints
}
