package main

import (
	"fmt"
	"time"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/bench/timeline"
)

// keyBytes is the length of a record's key.
const keyBytes = 8

// eventSize knows how long the events of a topic are.
type eventSize struct {
	frame      int64 // of an event, and its share of a partition's name for each of the partitions
	first      int64 // a record with the shortest offset
	last       int64 // a record with the longest
	number     int64 // of records in all
	partitions int64
}

func eventSizeOf(t *topic, brokers []string) eventSize {
	encoder := invoke.NewEncoder(invoke.Source{BootstrapServers: brokers})
	r := &record.Record{Topic: t.name, Key: make([]byte, keyBytes), Value: make([]byte, t.value), Timestamp: time.Now()}
	first := encoder.RecordSize(r)
	r.Offset, r.Partition = t.records/int64(t.partitions), int32(t.partitions)-1
	tp := record.TopicPartition{Topic: t.name, Partition: r.Partition}
	return eventSize{
		frame: int64(encoder.Overhead() + encoder.RunOverhead(tp)), partitions: int64(t.partitions),
		first: int64(first), last: int64(encoder.RecordSize(r)), number: t.records,
	}
}

// fit is how many records of a batch fit into the largest event that Sluice sends unless it is told otherwise: Lambda's
// 6 MiB. The loop is given this batch size.
func (e eventSize) fit(batch int) int {
	return min(batch, int((mapping.DefaultBatchBytes-e.frame)/e.last))
}

// check says what is wrong with what the function was sent: less than all records, or a notable part of them twice.
func (e eventSize) check(total timeline.Sample) error {
	least := e.number*e.first + total.Requests*(e.frame-2)
	most := e.number*e.last + total.Requests*e.partitions*e.frame
	if total.Bytes < least || total.Bytes > most {
		return fmt.Errorf("the function was sent %d bytes in %d calls; %d records take %d to %d",
			total.Bytes, total.Requests, e.number, least, most)
	}
	return nil
}
