package invoke

import (
	"encoding/base64"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluicehq/sluice/record"
)

// CloudEventRecordType is the type attribute of events that Sluice makes of records.
const CloudEventRecordType = "io.github.sluicehq.kafka.record"

const specVersion = "1.0"

// wrapped is an event of ours around a record:
//
//	id            topic-partition@offset
//	source        kafka://cluster/topic#partition, with the cluster's name in the configuration
//	subject, partitionkey   the key, where it is text
//	time          the record's timestamp
//	sequence      the offset, in 19 digits so that strings compare as numbers do (Sequence extension; its scope is source)
//	kafkakey      the key in base64, where it is not text
//	kafkaheaders  the record's headers as fields of a form
func (e *CloudEventsEncoder) wrapped(r *record.Record) cloudEvent {
	tp := record.TopicPartition{Topic: r.Topic, Partition: r.Partition}
	list := make([]attribute, 0, 13)
	set := func(name, value string) { list = append(list, attribute{name, value}) }
	set("specversion", specVersion)
	set("id", tp.At(record.Offset(r.Offset)))
	set("source", e.source+url.PathEscape(r.Topic)+"#"+strconv.Itoa(int(r.Partition)))
	set("type", CloudEventRecordType)
	if key := string(r.Key); isAttributeText(key) {
		set("subject", key)
		set("partitionkey", key)
	} else if key != "" {
		set("kafkakey", base64.StdEncoding.EncodeToString(r.Key))
	}
	if at := r.Timestamp.UTC(); r.Timestamp.UnixMilli() >= 0 && at.Year() <= 9999 {
		set("time", at.Format("2006-01-02T15:04:05.000Z"))
	}
	set("sequence", fmt.Sprintf("%019d", r.Offset))
	contentType, headerAt, knownJSON := wrappedContentType(r)
	if fields, _ := appendFields(nil, r, headerAt, math.MaxInt); len(fields) > 0 {
		set("kafkaheaders", string(fields))
	}
	return cloudEvent{attributes: list, contentType: contentType, data: r.Value, knownJSON: knownJSON}
}

// wrappedContentType is the media type of the record's value, and the index of the header that said so, -1 if none
// did: the record's own, else by what the value looks like. A tombstone has none. knownJSON says that the value was
// found to be JSON.
func wrappedContentType(r *record.Record) (media string, at int, knownJSON bool) {
	own, at := contentType(r)
	switch {
	case r.Value == nil:
		return "", -1, false
	case own != "":
		return own, at, false
	case isJSON(r.Value):
		return "application/json", -1, true
	case isText(r.Value):
		return "text/plain; charset=utf-8", -1, false
	}
	return "application/octet-stream", -1, false
}

// isText says whether value is UTF-8 that a person could have written.
func isText(value []byte) bool {
	return utf8.Valid(value) && strings.IndexFunc(string(value), func(r rune) bool {
		return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r'
	}) < 0
}

// appendPlace appends the attributes that name the record for batchItemFailures, and that the event has whoever made
// it. Those of the same names that it came with are from another topic.
func appendPlace(list []attribute, r *record.Record) []attribute {
	return append(list,
		attribute{"kafkatopic", r.Topic},
		attribute{"kafkapartition", strconv.Itoa(int(r.Partition))},
		attribute{"kafkaoffset", strconv.FormatInt(r.Offset, 10)})
}

// isPlace says whether name is one of those attributes.
func isPlace(name string) bool {
	return name == "kafkatopic" || name == "kafkapartition" || name == "kafkaoffset"
}

// isAttributeText says whether s may be the value of an attribute (CloudEvents 1.0.2, type system: String) and is not
// blank: UTF-8 without control characters and without Unicode's noncharacters.
func isAttributeText(s string) bool {
	return utf8.ValidString(s) && strings.TrimSpace(s) != "" && strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef
	}) < 0
}
