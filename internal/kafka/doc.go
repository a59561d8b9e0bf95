// Package kafka is the one place that makes Kafka clients: addresses, TLS, SASL, client id, rack and logging come from
// a Cluster, so that every part of the program reaches a cluster in the same way, and so that an operator reads the
// same words when it cannot (Explain).
//
// It makes clients and nothing more. What to consume, produce or ask is for the rooms that hold the client; they pass
// their own kgo options. Who makes a client closes it.
package kafka
