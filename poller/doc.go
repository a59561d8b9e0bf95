// Package poller runs pollers: each acquires batches from a feed, invokes the function, decides with the failure room
// what became of them, and settles.
//
// A poller has a byte budget and invocation slots of its own. Starting or stopping one touches no Kafka membership:
// that is the feed's, which one process holds once for a mapping. A Pool holds as many pollers as the scaler wants.
//
//	        ┌──────────────────────── one slot, again and again ───────────────────────┐
//	turn ─▶ budget ─▶ feed.Acquire ─▶ (pass the turn) ─▶ encode ─▶ invoke ─▶ decide ─▶ deliver ─▶ feed.Settle
//
// Slots are goroutines that take turns to acquire: the one whose turn it is waits for budget and for a batch, passes
// the turn on and carries the batch through. A poller so never acquires beyond its budget by more than one batch, and
// a batch changes hands without a goroutine switch. Slots start when they are needed for the first time.
//
// Before each function stands a Gate, for all mappings that call it; the feed enters it before it hands a batch out, and
// the poller gives the pass back with how the call ended.
//
// What is retried goes back to the feed with the time of its next try: a slot never sleeps on a failed batch.
package poller
