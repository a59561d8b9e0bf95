package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/filter"
	"github.com/sluicehq/sluice/record"
)

const documentAllowed = `allowed: an object such as {"value": {"type": "order"}}`

// recordOf makes a document into the record that looks like it: strings are the text of values, objects and arrays their JSON,
// null and what is missing no value.
func recordOf(document string) (*record.Record, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(document), &members); err != nil || members == nil {
		return nil, fmt.Errorf("the event is not a JSON object%s; %s", cause(err), documentAllowed)
	}
	r := &record.Record{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := documentMember(r, name, members[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return r, errors.Join(errs...)
}

func cause(err error) string {
	if err == nil {
		return ""
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf(" (%v, character %d)", err, syntax.Offset)
	}
	return ""
}

func documentMember(r *record.Record, name string, raw json.RawMessage) error {
	var err error
	want := "a number"
	switch name {
	case "value":
		r.Value = bytesOf(raw)
	case "key":
		r.Key = bytesOf(raw)
	case "topic":
		want, err = "a string", json.Unmarshal(raw, &r.Topic)
	case "partition":
		err = json.Unmarshal(raw, &r.Partition)
	case "offset":
		err = json.Unmarshal(raw, &r.Offset)
	case "timestamp":
		var ms int64
		err = json.Unmarshal(raw, &ms)
		r.Timestamp = time.UnixMilli(ms)
	case "timestampType":
		want = `"CREATE_TIME" or "LOG_APPEND_TIME"`
		switch string(raw) {
		case `"LOG_APPEND_TIME"`:
			r.Attrs = kgo.NewRecordAttrs(kgo.RecordAttrsOpts{TimestampType: 1})
		case `"CREATE_TIME"`:
		default:
			err = errors.New("another")
		}
	case "headers":
		var headers map[string]json.RawMessage
		want, err = "an object of headers", json.Unmarshal(raw, &headers)
		for key, value := range headers {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: key, Value: bytesOf(value)})
		}
	default:
		return fmt.Errorf("the event has a member %q, which no record has; allowed: %s; what a function gets as value stands under value, decoded",
			name, strings.Join(filter.RecordFields, ", "))
	}
	if err != nil {
		return fmt.Errorf("the event's %s is no such thing; allowed: %s", name, want)
	}
	return nil
}

// bytesOf are the bytes of a value that a document shows.
func bytesOf(raw json.RawMessage) []byte {
	var text string
	switch {
	case string(raw) == "null":
		return nil
	case json.Unmarshal(raw, &text) == nil:
		return []byte(text)
	}
	return raw
}
