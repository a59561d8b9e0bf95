// Package failure decides what becomes of a batch that the function did not take: try it again, split it, hand it to
// the on-failure destination, or drop it because the mapping's own limits ran out.
//
// It works on runs: the records that one partition (or message group) had in the batch. Runs of a failed batch part
// ways: each is tried again alone. The history of a run travels with it as a record.Retry, which this package alone
// writes:
//
//	          ┌──────────── Failed, PartiallyFailed (limits left) ───────────┐
//	          ▼                                                              │
//	handed to the function ──── Failed, PartiallyFailed, Expired ──▶ given up (Retry.GiveUp)
//	                            (limits ran out)                        │          │
//	                                                    destination set │          │ none
//	                                       Undelivered ┌──▶ owed to the destination  ├──▶ dropped
//	                                                   └────────┘       │          └──▶ held (too large, no limits)
//	                                                             confirmed
//
// What spends a retry attempt, and what only waits, is invoke.Kind's to say (product contract, «Functions»); while the
// function is down (circuit says so) nothing is spent, and nothing given up: InOutage.
//
// Invariants, held by the property tests: every record of a run that failed is in exactly one list of the Decision;
// each list keeps offset order; a function that does not answer (Unreachable, Canceled) costs no record anything.
//
// The package calls nobody, and has no clock, randomness or goroutine. The poller waits, invokes and delivers on its
// word. Adapters that deliver dead letters live below failure/destination and satisfy Destination.
package failure
