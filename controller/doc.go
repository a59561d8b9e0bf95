// Package controller turns event source mappings into running feeds and pollers, and stops what is no longer wanted, in
// order: acquire nothing more, let invocations end, settle, commit, leave.
//
// For each mapping it runs one runner: it opens the adapters (through the Opener, which cmd implements), joins the feed,
// and once a second reads how things stand, asks the scaling room how many pollers there should be, and keeps that many.
// What it sees is what status, explain and readiness tell.
//
// It knows the seams alone: Kafka, HTTP and files are the adapters'. spec.go is the one place where a mapping's fields
// become the options of the deciding rooms.
package controller
