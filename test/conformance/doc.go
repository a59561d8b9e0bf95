// Package conformance holds tests of Sluice as its user runs it: the binary as a process, a YAML file, a Kafka, and a
// function over HTTP. The suite runs alike on kfake (make test) and on real Kafka (build tag real); worst days and
// measurements run on real Kafka alone.
package conformance
