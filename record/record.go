// Package record holds the words that every room shares: a Kafka record, where it stands, the runs in which
// records travel, and what may become of them.
//
// It decides nothing and imports nothing of ours.
package record

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Record is a record as the Kafka client hands it over: key, value, headers, topic, partition, offset and
// timestamp. It is the client's own type, so that a record is never converted on the hot path. Key, value and
// headers alias the client's fetch buffer and must not be changed.
type Record = kgo.Record

// Offset is a position in a partition. Committed offsets name the next record to read, as in Kafka.
type Offset int64

// GroupID is the name of a Kafka consumer group or share group.
type GroupID string

// TopicPartition names one partition of one topic.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String returns "topic-partition", the form that Lambda's Kafka event uses as the key of its records map.
func (tp TopicPartition) String() string {
	return tp.Topic + "-" + strconv.Itoa(int(tp.Partition))
}

// At names one record of the partition as "topic-partition@offset", the form of logs and dead letters.
func (tp TopicPartition) At(o Offset) string {
	return tp.String() + "@" + strconv.FormatInt(int64(o), 10)
}

// Bytes is what a record counts against throughput caps: key, value and headers, uncompressed
// (product contract, «Scaling»).
func Bytes(r *Record) int64 {
	n := len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return int64(n)
}
