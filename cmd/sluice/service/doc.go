// Package service wires a configuration into a running service: it is where the adapters are built and handed to the
// controller. The commands of cmd/sluice, the benchmark and the conformance tests start services through it.
package service
