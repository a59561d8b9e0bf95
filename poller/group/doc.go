// Package group is the feed of Stream mode: one consumer-group membership of one mapping in this process, with an
// in-flight window for each assigned partition.
//
// It fetches, hands out batches, takes settlements and commits. What a batch holds and how far a partition may be
// committed is inflight's to say; invoking and retrying is the pollers'.
//
//	Kafka ─▶ poll ─▶ admit ─▶ │ windows │ ─▶ Acquire ─▶ pollers
//	  ▲                       │ (mutex) │                  │
//	  └── commit, 1 s ◀───────│         │ ◀── Settle ◀─────┘
//
// One mutex guards the windows; whoever holds it drives them, and no I/O happens under it. Goroutines: one that polls,
// one that commits, and the client's own, on which assignments and revocations arrive.
//
// # Assignment
//
// Records in hand from before an assignment are dropped before its windows open (flush): the client may have handed
// them out under the last one. A partition without a committed offset is committed at the position that it starts from,
// so that a restart neither skips nor replays. A revoked partition hands out nothing more; what is out may settle for the
// drain time, is committed, and only then does the rebalance go on. A lost partition is not ours to commit: its calls
// are cancelled.
//
// # Bounds
//
// What is admitted and not settled is bounded by Config.BufferBytes, counting inflight.RecordOverhead for each record, plus
// one fetch; fetches are asked for the smaller, the better their records are compressed. While pollers are busy and the
// buffer is full, nothing is polled. When a poller waits although the buffer is full and some partition has too little for a
// batch (those that fill it are blocked), full partitions are paused and polling goes on: a blocked partition stops neither
// the others nor polling. No partition holds more than its share, nor for long the responses that its records came in.
package group
