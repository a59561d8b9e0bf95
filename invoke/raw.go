package invoke

import (
	"fmt"
	"strconv"

	"github.com/sluicehq/sluice/record"
)

// RawEncoder gives a batch of one record the form «raw»: the body is the record's value as it is, and headers say the
// rest (docs/FUNCTIONS.md, «payload: raw»). It has no state and may be used by any number of goroutines.
type RawEncoder struct{}

// NewRawEncoder returns the encoder for single values.
func NewRawEncoder() *RawEncoder { return &RawEncoder{} }

// Overhead is 0: a body is the value and nothing else.
func (*RawEncoder) Overhead() int { return 0 }

// RunOverhead is 0.
func (*RawEncoder) RunOverhead(record.TopicPartition) int { return 0 }

// RecordSize is the size in bytes of the record's value.
func (*RawEncoder) RecordSize(r *record.Record) int { return len(r.Value) }

// Encode makes req carry the one record of runs: it appends the value to req.Body and sets req.Header. It panics if
// there are more: a mapping with this payload has a batch size of 1.
func (*RawEncoder) Encode(req *Request, runs []record.Run) {
	r := onlyRecord(runs)
	req.Body = append(req.Body, r.Value...)
	req.Header = rawHeader(r)
}

func onlyRecord(runs []record.Run) *record.Record {
	n := 0
	for i := range runs {
		n += len(runs[i].Records)
	}
	if n != 1 {
		panic(fmt.Sprintf("invoke: a payload of one record was given %d, in %d runs", n, len(runs)))
	}
	return runs[0].Records[0]
}

// rawHeader is everything of a record but its value. The key comes before the record's headers where there is not
// room for all; what is left out is said.
func rawHeader(r *record.Record) []Header {
	own, at := contentType(r)
	if own == "" {
		own = "application/octet-stream"
	}
	list := make([]Header, 0, 9)
	room := HeaderBytesMax
	add := func(name, value string) {
		h := Header{name, value}
		list, room = append(list, h), room-h.size()
	}
	add("Content-Type", own)
	add("Sluice-Topic", string(appendPercent(nil, r.Topic, &headerText)))
	add("Sluice-Partition", strconv.Itoa(int(r.Partition)))
	add("Sluice-Offset", strconv.FormatInt(r.Offset, 10))
	add("Sluice-Timestamp", strconv.FormatInt(r.Timestamp.UnixMilli(), 10))
	if r.Value == nil {
		add("Sluice-Tombstone", "true")
	}
	if r.Key != nil {
		key, ok := keyHeader(r.Key, room)
		if ok {
			add("Sluice-Key", key)
		} else {
			add("Sluice-Key-Omitted", "true")
		}
	}
	fields, omitted := appendFields(nil, r, at, room-len("Sluice-Headers: \r\nSluice-Headers-Omitted: 1234567890\r\n"))
	if len(fields) > 0 {
		add("Sluice-Headers", string(fields))
	}
	if omitted > 0 {
		add("Sluice-Headers-Omitted", strconv.Itoa(omitted))
	}
	return list
}

// keyHeader is the key as a header's value, if it fits in room bytes with the room that the headers behind it need
// to say that they were left out.
func keyHeader(key []byte, room int) (string, bool) {
	room -= len("Sluice-Key: \r\nSluice-Headers: \r\nSluice-Headers-Omitted: 1234567890\r\n")
	if len(key) > room {
		return "", false
	}
	text := appendPercent(nil, key, &headerText)
	return string(text), len(text) <= room
}
