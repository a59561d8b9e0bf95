package invoke

import (
	"net/url"
	"sync"

	"github.com/sluicehq/sluice/record"
)

// The media types of the JSON event format (CloudEvents, JSON event format 1.0.2, sections 3 and 4). They stand
// without charset: some receivers compare them to the letter, and JSON is UTF-8.
const (
	cloudEventType      = "application/cloudevents+json"
	cloudEventBatchType = "application/cloudevents-batch+json"
)

// CloudEventsEncoder gives a batch the form «cloudevents»: every record is a CloudEvent 1.0. A record that is a
// CloudEvent already, by the Kafka protocol binding, goes on as that event; any other is wrapped in an event of ours
// (docs/FUNCTIONS.md, «payload: cloudevents»).
//
// A mapping with a batch size of 1 sends single events: in binary content mode where that says everything exactly,
// else in structured mode. All other mappings send JSON batches, of one event too. It may be used by any number of
// goroutines.
type CloudEventsEncoder struct {
	single bool
	source string // up to the topic
	// scratch lends memory to RecordSize, which writes an event to measure it.
	scratch sync.Pool
}

// NewCloudEventsEncoder returns the encoder for records of the cluster that the configuration calls by that name.
// single says that every batch holds one record, by the mapping's batch size.
func NewCloudEventsEncoder(cluster string, single bool) *CloudEventsEncoder {
	return &CloudEventsEncoder{
		single: single, source: "kafka://" + url.PathEscape(cluster) + "/",
		scratch: sync.Pool{New: func() any { return new([]byte) }},
	}
}

// scratchBytesMax bounds what scratch keeps of an event that was measured.
const scratchBytesMax = 1 << 20

// Overhead is the size in bytes of a batch's frame, the first event's comma taken off (it has none).
func (e *CloudEventsEncoder) Overhead() int {
	if e.single {
		return 0
	}
	return len("[]") - len(",")
}

// RunOverhead is 0.
func (*CloudEventsEncoder) RunOverhead(record.TopicPartition) int { return 0 }

// RecordSize is the size in bytes of the record's event in a batch, with the comma before it, or of the body where
// events are sent singly. It writes the event to know: two rules for one text would drift apart, and this payload is
// not made for the last percent of speed.
func (e *CloudEventsEncoder) RecordSize(r *record.Record) int {
	ev := e.event(r)
	if e.single && ev.isBinary() {
		return len(ev.data)
	}
	buf := e.scratch.Get().(*[]byte)
	*buf = ev.appendJSON((*buf)[:0])
	n := len(*buf)
	if cap(*buf) <= scratchBytesMax {
		e.scratch.Put(buf)
	}
	if e.single {
		return n
	}
	return n + len(",")
}

// Encode makes req carry the records of runs, in the order given: it appends to req.Body and sets req.Header. It
// panics if a mapping of single events has more than one.
func (e *CloudEventsEncoder) Encode(req *Request, runs []record.Run) {
	if e.single {
		e.encodeSingle(req, onlyRecord(runs))
		return
	}
	req.Header = []Header{{"Content-Type", cloudEventBatchType}}
	separator := byte('[')
	for i := range runs {
		for _, r := range runs[i].Records {
			ev := e.event(r)
			req.Body = ev.appendJSON(append(req.Body, separator))
			separator = ','
		}
	}
	req.Body = append(req.Body, ']')
}

func (e *CloudEventsEncoder) encodeSingle(req *Request, r *record.Record) {
	ev := e.event(r)
	if !ev.isBinary() {
		req.Header = []Header{{"Content-Type", cloudEventType}}
		req.Body = ev.appendJSON(req.Body)
		return
	}
	req.Header = ev.header()
	req.Body = append(req.Body, ev.data...)
}

// event is the record as an event: the one that it is, or one of ours around it.
func (e *CloudEventsEncoder) event(r *record.Record) cloudEvent {
	ev, ok := passedOn(r)
	if !ok {
		ev = e.wrapped(r)
	}
	ev.attributes = appendPlace(ev.attributes, r)
	return ev
}
