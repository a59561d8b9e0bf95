// Package mapping is the event source mapping: the configured link from Kafka topics to a function.
//
// It holds every field of a mapping with its range, its default, the modes that refuse it and its documentation, in one
// table ([Type]) from which validation, the JSON Schema and the documentation tables are made; the states of a mapping and
// the way from one to the next ([Step]); and the rules for names, UUIDs and destination addresses.
//
// It is pure: no goroutine, clock, file or network. Reading YAML, resolving references between mappings, clusters and
// functions, and reporting places is config's work; the table's own words (types, ranges, conditions) are those of
// mapping/field; carrying a mapping out is the controller's and the poller's work.
//
// The fields are those of AWS Lambda's CreateEventSourceMapping («AWS Lambda API Reference», CreateEventSourceMapping) with
// a small first letter, with its ranges and defaults, and some beyond AWS's.
package mapping
