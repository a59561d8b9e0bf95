// Package arch keeps the shape of the source tree: which room may import which, what a deciding room may not touch,
// that every package and every exported name is documented, and how long a file may grow.
//
// The rules are data (rooms.go, and the lists of exceptions in directions.go, purity.go and sizes.go), each exception
// with its reason; the package's test holds the tree against them. A new folder is entered in rooms.go first.
// docs/ARCHITECTURE.md tells what the rooms are for.
//
// Its tests hold docs/FAULTS.md and docs/RELIABILITY.md to the tree as well: the tests that they name exist.
//
// It reads source with go/parser alone, without type checking or build tags, so files for every platform and every tag
// are checked, and the whole takes well under a second.
package arch
