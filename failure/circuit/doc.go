// Package circuit decides whether a function may be called right now, and whether it is the function that is down or a
// record that it cannot take. One circuit stands before each function, whichever mappings call it.
//
//	         three different batches fail alike, or nothing answers
//	closed ───────────────────────────────────────────────────────▶ open
//	  ▲                                                               │ a pause, growing
//	  │ the probe succeeds                                            ▼
//	  └──────────────────────────────────────────────────────────── probing: one call
//	                                     the probe fails: open again
//
// While it is open nothing is blamed: no attempt is spent and nothing is given up (product contract, «Failure»).
// A batch that fails alone is the batch's fault, so that one crashing record reaches its destination even when nothing
// else is queued. So is one that fails again although the function has taken others since: it is suspect, and no
// evidence of an outage. Three batches that each hold a poison record look like an outage at first; the probes are
// halves of failed batches, and the first healthy half ends it. Where every batch is a single poison record and
// nothing else arrives, the two cannot be told apart: it stays open, probes, and says so.
//
// Beside the outage it keeps manners. A function that throttles is called by half as many at once, and by one more
// with each round that succeeds (AIMD); a Retry-After stops all calls for that long.
//
// A Circuit is a value without goroutine, clock or lock: time comes in, and a gate in the poller room drives it.
package circuit
