package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// The function finds its way in what the encoder writes.
func TestFirstRecordOfAnEvent(t *testing.T) {
	e := invoke.NewEncoder(invoke.Source{BootstrapServers: []string{"127.0.0.1:9092"}})
	run := func(partition int32, offset int64, n int) record.Run {
		r := record.Run{TopicPartition: record.TopicPartition{Topic: "orders", Partition: partition}}
		for i := range int64(n) {
			r.Records = append(r.Records, &record.Record{
				Topic: "orders", Partition: partition, Offset: offset + i, Key: []byte("k"), Value: bytes.Repeat([]byte{1}, 900),
			})
		}
		return r
	}
	event := e.Append(nil, []record.Run{run(11, 1234, 100), run(3, 7, 1)})
	var b body
	for range 2 { // it is used again
		if err := b.read(strings.NewReader(string(event))); err != nil {
			t.Fatal(err)
		}
	}
	identifier, size, ok := b.first()
	if want := `{"partition":"orders-11","offset":1234}`; !ok || identifier != want || b.size != int64(len(event)) {
		t.Errorf("first = %q, %v; %d bytes read of %d; want %q", identifier, ok, b.size, len(event), want)
	}
	if one := int64(e.RecordSize(run(11, 1234, 1).Records[0])); size < one-12 || size > one+12 {
		t.Errorf("the record takes %d bytes, the encoder says %d", size, one)
	}
}
