// Package inflight tracks the records of a feed's partitions between fetch and commit.
//
// It decides which records may be handed out next, in which batches, and how far each partition may be
// committed. It does not fetch, invoke, retry or commit: the feed and the pollers do, on its word. It has no
// goroutine, clock, lock or I/O: time comes in as an argument, and a Set is used by one goroutine at a time.
//
// # Words
//
// A record is admitted when it was fetched, acquired when a batch takes it, and settled when it has one of the
// outcomes that the record room lists. A scope is what keeps order: it is held by at most one batch at a time.
// Here the scope is the partition (Stream mode).
//
//	           Admit            Acquire             Settle, nothing left
//	(fetched) ───────▶ pending ─────────▶ acquired ─────────────────────▶ settled
//	                                      ▲     │
//	                             Acquire  │     │ Settle with runs to retry
//	                           (when due) └─ waiting
//
// # Invariants
//
//   - Order: a record is acquired only when every earlier record of its partition is settled or in the same run
//     before it, within one assignment of the partition. (Under a partial batch response the records that were
//     not named are settled, so a named one comes again behind them, as AWS has it.)
//   - Exclusion: at most one live lease holds records of a partition.
//   - No loss: the commit point never passes a record that is not settled, and never goes back (but where the broker
//     cut the log: Truncate).
//   - Stale is nothing: a lease of a partition that was removed since changes no state.
//   - Bounds: the caller gates admission by Records and Bytes; what is held never exceeds what was admitted.
//
// The window grows into the ordered queue's (message groups as scopes) without changing these words.
package inflight
