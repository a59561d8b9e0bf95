// Package filter is the pattern language of FilterCriteria: it compiles patterns once and says of each record whether one
// of them matches. The language is written down rule by rule in docs/FILTERS.md.
//
// A pattern names fields and lists tests for each. It is compiled into branches (one, or as many as its $or multiply to),
// each a list of fields that must all hold. The fields of all branches of all patterns hang in one tree of names. A match
// scans the JSON once along that tree: what no pattern names is passed over, values are compared where they lie, and the
// scan ends as soon as one branch holds. Nothing is built of the document, except where fields lie in arrays of objects:
// then the places of accepted values are kept until an array ends, because the fields of a branch must come from the same
// elements (arrays.go).
//
// A Filter is read without locks from any goroutine, and a match allocates nothing once the scratch memory of its pool is
// warm. It decides and does nothing else: what becomes of a record that no pattern matches, the feed knows.
package filter
