package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// Directions returns a complaint for every import that the map of rooms does not allow, and for every package that
// belongs to no room. Test files are left alone: they may use fakes and leaves, and nothing ships from them.
func Directions(tree *Tree) []string {
	var complaints []string
	for _, pkg := range tree.Packages {
		from, ok := roomOf(pkg.Path)
		if !ok {
			complaints = append(complaints, fmt.Sprintf(
				"%s: this package belongs to no room; enter it in internal/arch/rooms.go with what it may import", pkg.Path))
			continue
		}
		for _, file := range pkg.Files {
			if file.Test {
				continue
			}
			file.imports(func(p string, spec *ast.ImportSpec) {
				if reason := forbiddenEdge(from, p); reason != "" {
					complaints = append(complaints, fmt.Sprintf("%s: %s (%s) imports %s: %s",
						tree.at(spec), from.path, from.level, strings.TrimPrefix(p, Module+"/"), reason))
				}
			})
		}
	}
	return complaints
}

// forbiddenEdge says why a room may not import a package, or "" if it may.
func forbiddenEdge(from room, importPath string) string {
	p, ours := strings.CutPrefix(importPath, Module+"/")
	if !ours {
		return ""
	}
	to, ok := roomOf(p)
	switch {
	case !ok:
		return "that belongs to no room of internal/arch/rooms.go"
	case to.path == from.path || slices.Contains(from.may, to.path):
		return ""
	case to.level == outside:
		if from.path == "test" {
			return ""
		}
		return "nothing may depend on tests and examples"
	case slices.Contains(from.may, anything):
		return ""
	case to.level == leaf:
		return "leaves are built by cmd and handed inwards through an interface of the room that uses them"
	case to.level >= from.level:
		return fmt.Sprintf("a %s stands above; the direction is record ← deciding rooms ← seams ← poller ← controller ← cmd", to.level)
	default:
		return fmt.Sprintf("not among the imports of %s in internal/arch/rooms.go: %s", from.path, orNothing(from.may))
	}
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "it may import nothing of ours"
	}
	return strings.Join(list, ", ")
}

// Ladder returns a complaint for every edge in the map itself that leads upwards, or from leaf to leaf, without an
// exception, and for every exception that the map does not use.
func Ladder() []string {
	var complaints []string
	used := map[exception]bool{}
	for _, from := range rooms {
		for _, p := range from.may {
			if p == anything {
				continue
			}
			to, ok := roomOf(p)
			if !ok || to.path != p {
				complaints = append(complaints, fmt.Sprintf("rooms: %s may import %q, which is no room", from.path, p))
				continue
			}
			if to.level < from.level {
				continue
			}
			if !excepted(from.path, p) {
				complaints = append(complaints, fmt.Sprintf("rooms: %s (%s) may import %s (%s): needs an exception with its reason",
					from.path, from.level, p, to.level))
			}
			used[exception{from: from.path, to: p}] = true
		}
	}
	for _, e := range exceptions {
		if e.why == "" {
			complaints = append(complaints, fmt.Sprintf("exceptions: %s → %s has no reason", e.from, e.to))
		}
		if !used[exception{from: e.from, to: e.to}] {
			complaints = append(complaints, fmt.Sprintf("exceptions: %s → %s is not used by rooms; remove it", e.from, e.to))
		}
	}
	return complaints
}
