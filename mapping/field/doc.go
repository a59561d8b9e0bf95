// Package field has the words in which configuration is described: types with their ranges, fields with their defaults,
// conditions on other fields, rules across fields, and what is not yet supported.
//
// A table of fields is data. From one table this package makes the check of a value ([Check]), the typed value or its
// default ([Read]), the JSON Schema ([Schema]) and a documentation table ([Markdown]), so that the four cannot differ.
//
// The values are trees of [Node]: scalars, lists and objects with the place each came from. Who reads YAML or JSON makes the
// tree (config); who owns the fields makes the table (mapping, config). This package knows neither.
package field
