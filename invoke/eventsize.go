package invoke

import "github.com/sluicehq/sluice/record"

// Overhead, RunOverhead and RecordSize plan an event before it is encoded, without allocating:
//
//	size = Overhead() + Σ RunOverhead(partition) + Σ RecordSize(record)
//
// is exactly the length of the event, counting RunOverhead once for each partition. Counted once for each run, where
// several runs of one partition follow each other, it is an upper bound.

// Overhead is the size in bytes of an event's frame, the first partition's comma taken off (it has none).
func (e *Encoder) Overhead() int { return len(e.head) + len(eventTail) - 1 }

// RunOverhead is the size in bytes that a partition adds to an event, beside its records.
func (e *Encoder) RunOverhead(tp record.TopicPartition) int {
	// `"topic-N":[` and `]`, and a comma before it; the comma that its first record does not have is taken off.
	return stringLen(tp.Topic) + 1 + decimalLen(int64(tp.Partition)) + len(`:[],`) - 1
}

// RecordSize is the size in bytes of a record in an event, with the comma before it. It reads the bytes of the topic
// and of the headers, not of key and value.
func (e *Encoder) RecordSize(r *record.Record) int {
	n := len(topicKey) + stringLen(r.Topic) +
		len(partitionKey) + decimalLen(int64(r.Partition)) +
		len(offsetKey) + decimalLen(r.Offset) +
		len(timestampKey) + decimalLen(r.Timestamp.UnixMilli()) +
		len(timestampType(r)) +
		payloadSize(r.Key, r.Value) +
		len(headersKey) + len(`]},`)
	for i := range r.Headers {
		n += stringLen(r.Headers[i].Key) + signedLen(r.Headers[i].Value) + len(`{:},`)
	}
	if len(r.Headers) > 0 {
		n-- // the first header has no comma
	}
	return n
}

// decimalLen is the number of bytes of v in decimal.
func decimalLen(v int64) int {
	n := 1
	u := uint64(v)
	if v < 0 {
		n, u = 2, -u
	}
	for u >= 10000 {
		u /= 10000
		n += 4
	}
	switch {
	case u >= 1000:
		return n + 3
	case u >= 100:
		return n + 2
	case u >= 10:
		return n + 1
	}
	return n
}
