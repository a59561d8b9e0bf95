package invoke

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/record"
)

// EventSource is the kind of cluster that an event says it comes from.
type EventSource string

// The event sources of Kafka events (AWS, «Using Lambda with self-managed Apache Kafka» and «… with Amazon MSK»).
const (
	SelfManagedKafka EventSource = "SelfManagedKafka"
	MSK              EventSource = "aws:kafka"
)

// Source is what an event says of the cluster: the same for every event of a mapping.
type Source struct {
	// EventSource is SelfManagedKafka where it is empty.
	EventSource EventSource
	// EventSourceARN is the cluster's ARN; written for MSK only, because self-managed events have none.
	EventSourceARN string
	// BootstrapServers are the servers as configured, in that order.
	BootstrapServers []string
}

// Encoder writes the Kafka event document of one mapping. It is made once, holds what all its events share, and may
// be used by any number of goroutines.
type Encoder struct {
	head string // up to and with `"records":{`
}

const (
	eventTail    = `}}`
	recordTail   = `}`
	partitionKey = `,"partition":`
	offsetKey    = `,"offset":`
	timestampKey = `,"timestamp":`
	// The two values of timestampType. A record of the old message format 0 has no timestamp; CREATE_TIME there.
	createTime    = `,"timestampType":"CREATE_TIME"`
	logAppendTime = `,"timestampType":"LOG_APPEND_TIME"`
	headersKey    = `,"headers":[`
	topicKey      = `{"topic":`
)

// NewEncoder returns the encoder for events from source.
func NewEncoder(source Source) *Encoder {
	if source.EventSource == "" {
		source.EventSource = SelfManagedKafka
	}
	head := appendString([]byte(`{"eventSource":`), string(source.EventSource))
	if source.EventSource == MSK {
		head = appendString(append(head, `,"eventSourceArn":`...), source.EventSourceARN)
	}
	head = appendString(append(head, `,"bootstrapServers":`...), strings.Join(source.BootstrapServers, ","))
	return &Encoder{head: string(append(head, `,"records":{`...))}
}

// Append appends the event that carries the records of runs, in the order given, and returns the extended slice.
// Records of adjacent runs of one partition go into one array. It does not allocate where dst has room: see
// Overhead for how much that is.
//
// Runs of one partition must be adjacent: a second array under the same name would hide the first from most JSON
// readers, and the function would answer for records that it never saw. Append panics on such a batch.
func (e *Encoder) Append(dst []byte, runs []record.Run) []byte {
	checkAdjacent(runs)
	dst = append(dst, e.head...)
	for i := 0; i < len(runs); {
		if i > 0 {
			dst = append(dst, ',')
		}
		n := samePartition(runs[i:])
		dst = appendPartition(dst, runs[i:i+n])
		i += n
	}
	return append(dst, eventTail...)
}

// Encode makes req carry the records of runs: it appends the event to req.Body. See Append.
func (e *Encoder) Encode(req *Request, runs []record.Run) { req.Body = e.Append(req.Body, runs) }

// samePartition counts the runs at the front that are of one partition.
func samePartition(runs []record.Run) int {
	n := 1
	for n < len(runs) && runs[n].TopicPartition == runs[0].TopicPartition {
		n++
	}
	return n
}

// appendPartition appends `"topic-partition":[…]` with the records of runs, which are all of one partition.
func appendPartition(dst []byte, runs []record.Run) []byte {
	tp := runs[0].TopicPartition
	dst = appendPartitionName(dst, tp)
	dst = append(dst, ':', '[')
	// What the partition's records begin with is written once and copied from there.
	from := len(dst)
	dst = append(dst, topicKey...)
	dst = appendString(dst, tp.Topic)
	dst = append(dst, partitionKey...)
	dst = strconv.AppendInt(dst, int64(tp.Partition), 10)
	dst = append(dst, offsetKey...)
	to := len(dst)
	first := true
	for i := range runs {
		for _, r := range runs[i].Records {
			if !first {
				dst = append(dst, ',')
				dst = append(dst, dst[from:to]...)
			}
			first = false
			dst = appendRecord(dst, r)
		}
	}
	return append(dst, ']')
}

// appendPartitionName appends the key under which the event lists the records of tp.
func appendPartitionName(dst []byte, tp record.TopicPartition) []byte {
	dst = appendString(dst, tp.Topic)
	dst[len(dst)-1] = '-'
	return append(strconv.AppendInt(dst, int64(tp.Partition), 10), '"')
}

// appendRecord appends a record from its offset on.
func appendRecord(dst []byte, r *record.Record) []byte {
	dst = strconv.AppendInt(dst, r.Offset, 10)
	dst = append(dst, timestampKey...)
	dst = strconv.AppendInt(dst, r.Timestamp.UnixMilli(), 10)
	dst = append(dst, timestampType(r)...)
	dst = appendPayload(dst, r.Key, r.Value)
	dst = append(dst, headersKey...)
	for i := range r.Headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendString(dst, r.Headers[i].Key)
		dst = append(dst, ':')
		dst = appendSigned(dst, r.Headers[i].Value)
		dst = append(dst, '}')
	}
	return append(dst, ']', '}')
}

func timestampType(r *record.Record) string {
	if r.Attrs.TimestampType() == 1 {
		return logAppendTime
	}
	return createTime
}

// checkAdjacent panics if runs of one partition stand apart. A set of 1024 bits clears nearly every batch without
// comparing names; only a partition whose bit is taken is looked for among those before it.
func checkAdjacent(runs []record.Run) {
	var seen [16]uint64
	for i := range runs {
		tp := &runs[i].TopicPartition
		if i > 0 && runs[i-1].TopicPartition == *tp {
			continue
		}
		slot := (uint32(tp.Partition) + 131*uint32(len(tp.Topic))) & 1023
		word, bit := &seen[slot>>6], uint64(1)<<(slot&63)
		if *word&bit != 0 {
			checkUnseen(runs, i)
		}
		*word |= bit
	}
}

func checkUnseen(runs []record.Run, i int) {
	for j := range i {
		if runs[j].Partition == runs[i].Partition && runs[j].Topic == runs[i].Topic {
			panic(fmt.Sprintf("invoke: %s stands twice in one event, in runs %d and %d of %d", runs[i].TopicPartition, j, i, len(runs)))
		}
	}
}
