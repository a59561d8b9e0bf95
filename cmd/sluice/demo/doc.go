// Package demo shows the whole system in one process: an embedded Kafka (kfake), a producer, a sample function over real
// HTTP on loopback, and the service with a mapping between them, from YAML as anyone would write it.
//
// Things go wrong on purpose: the function answers some batches with 500, and one record in the middle is poison. At the
// end a ledger, which is told what was produced and sees every call from the function's side, proves that each record was
// taken or found on the dead-letter topic, and that each partition's order held. The verdict depends on nothing that
// Sluice says of itself but its commits, and those are read back from Kafka.
//
// What is shown is a list of scenes, one for each consumption mode that there is; Stream for now. Memory is bounded: the
// producer keeps at most backlogMax records ahead, and what is committed is deleted from the embedded Kafka, as retention
// would.
package demo
