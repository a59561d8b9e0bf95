// Package topic delivers given-up records to a Kafka topic, the dead-letter topic of a mapping (kafka://topic).
//
// A record counts as delivered once every in-sync replica has it (acks=all, idempotent). Whatever else happens, a
// topic that is missing, brokers that are down, a record that the topic does not take, comes back as undelivered, and
// the poller keeps the record: nothing is dropped here. Delivery is at least once.
//
// Two formats:
//
//   - record (the default): the record whole, its key, value and headers, and sluice- headers that tell where it stood
//     and why it was given up. Headers with this prefix are ours: those of an earlier round are replaced.
//   - aws: one document per record as Lambda writes it (AWS, «Retain discarded batches», Kafka topic destination).
//
// What a topic demands beyond that:
//
//   - Its timestamps are those of the delivery, so that retention counts from there; the record's own is in the
//     header, or the document.
//   - A compacted topic takes no record without key. Such a record gets the key «topic-partition@offset», unique to
//     it. Keys of its own are kept, so compaction removes all but the last dead letter of a key; Check warns of that.
//   - A dead letter too large for the topic goes without its payload, with the place of its source instead (aws), or
//     is held (record).
//   - Dead letters that would come back to a topic they were given up from are refused (ErrLoop), also by another name
//     of the cluster, and held. The path stands in the header sluice-path.
//
// How a client reaches the cluster is internal/kafka's; when to try again, and the alarm, are the poller's.
package topic
