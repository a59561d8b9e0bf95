// Package memory says what a service may take of the machine's memory, and divides it: [Find] reads the limit, [Divide]
// makes shares of it, one for each enabled mapping, and [Of] does both for a configuration. docs/MEMORY.md has the
// formula, and a test on real Kafka (test/conformance) holds the process to it.
//
// Shares are worked out once, at start: mappings come and go with the configuration, and that is read at start.
package memory
