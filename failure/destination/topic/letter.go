package topic

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// HeaderPrefix is what the headers that we add begin with. It is reserved: what a record brings under it is taken for
// that of an earlier round, and replaced.
const HeaderPrefix = "sluice-"

// The headers of a dead letter of format record, in this order. Numbers are decimal; a header that has nothing to say
// is left out. Format aws carries HeaderPath alone.
const (
	HeaderMapping     = HeaderPrefix + "mapping"
	HeaderTopic       = HeaderPrefix + "topic"
	HeaderPartition   = HeaderPrefix + "partition"
	HeaderOffset      = HeaderPrefix + "offset"
	HeaderTimestamp   = HeaderPrefix + "timestamp"   // the record's own, RFC 3339 in UTC with milliseconds
	HeaderCondition   = HeaderPrefix + "condition"   // why it was given up: record.Condition
	HeaderAttempts    = HeaderPrefix + "attempts"    // failed invocations that spent an attempt
	HeaderInvocations = HeaderPrefix + "invocations" // all invocations
	HeaderErrorKind   = HeaderPrefix + "error-kind"  // of the last failure: invoke.Kind, or BatchItemFailure
	HeaderErrorStatus = HeaderPrefix + "error-status"
	HeaderErrorType   = HeaderPrefix + "error-type"    // the function's own
	HeaderErrorText   = HeaderPrefix + "error-message" // the function's own, or the cause
	HeaderRequestID   = HeaderPrefix + "request-id"    // the batch id of the last invocation
	HeaderPath        = HeaderPrefix + "path"          // cluster-id/topic, by comma: where it was given up before, and here
)

// ErrLoop says that a dead letter would come back to a topic that it was given up from. It is held: a mapping further
// along the path has to change its destination.
var ErrLoop = errors.New("this record was given up from that very topic before: the destinations of two or more mappings form a loop")

// letter writes the dead letter of record i of the run. Key, value and headers are the record's own memory. Here is
// the destination's place, or "" if it is not known.
func (t *Topic) letter(run record.Run, i int, here string) (*kgo.Record, error) {
	r := run.Records[i]
	path := t.path(r)
	if here != "" && slices.Contains(path, here) {
		return nil, ErrLoop
	}
	l := &kgo.Record{Topic: t.config.Topic, Key: r.Key}
	if l.Key == nil && t.compacted.Load() {
		l.Key = ownKey(run, i)
	}
	if t.config.Format == FormatAWS {
		l.Value = t.document(run, i, true)
		l.Headers = header(nil, HeaderPath, strings.Join(path, ","))
	} else {
		l.Value = r.Value
		l.Headers = t.headers(run, r, path)
	}
	return l, nil
}

func (t *Topic) headers(run record.Run, r *record.Record, path []string) []kgo.RecordHeader {
	headers := make([]kgo.RecordHeader, 0, len(r.Headers)+14)
	for _, h := range r.Headers {
		if !strings.HasPrefix(h.Key, HeaderPrefix) {
			headers = append(headers, h)
		}
	}
	headers = header(headers, HeaderMapping, t.config.Mapping)
	headers = header(headers, HeaderTopic, r.Topic)
	headers = header(headers, HeaderPartition, strconv.Itoa(int(r.Partition)))
	headers = header(headers, HeaderOffset, strconv.FormatInt(r.Offset, 10))
	headers = header(headers, HeaderTimestamp, isoTime(r.Timestamp))
	if retry := run.Retry; retry != nil {
		headers = header(headers, HeaderCondition, string(retry.GiveUp))
		headers = header(headers, HeaderAttempts, strconv.Itoa(retry.Attempts))
		headers = header(headers, HeaderInvocations, strconv.Itoa(retry.Invocations))
		headers = header(headers, HeaderErrorKind, retry.Last.Kind)
		if retry.Last.Status != 0 {
			headers = header(headers, HeaderErrorStatus, strconv.Itoa(retry.Last.Status))
		}
		headers = header(headers, HeaderErrorType, retry.Last.Type)
		headers = header(headers, HeaderErrorText, retry.Last.Message)
		headers = header(headers, HeaderRequestID, retry.Last.RequestID)
	}
	return header(headers, HeaderPath, strings.Join(path, ","))
}

func header(headers []kgo.RecordHeader, key, value string) []kgo.RecordHeader {
	if value == "" {
		return headers
	}
	return append(headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
}

// path lists the topics that the record was given up from so far, this one included, each once. It is nil where the
// source cluster's id is not known.
func (t *Topic) path(r *record.Record) []string {
	if t.config.SourceClusterID == "" {
		return nil
	}
	var path []string
	for _, h := range r.Headers {
		if h.Key == HeaderPath {
			path = strings.Split(string(h.Value), ",")
		}
	}
	if here := place(t.config.SourceClusterID, r.Topic); !slices.Contains(path, here) {
		path = append(path, here)
	}
	return path
}

// place names a topic among all clusters. Neither part can hold a slash or a comma.
func place(clusterID, topic string) string { return clusterID + "/" + topic }

// ownKey is the key of a record that has none, on a topic that needs one: unlike any other.
func ownKey(run record.Run, i int) []byte {
	return []byte(run.At(record.Offset(run.Records[i].Offset)))
}

// isoTime is the form of all timestamps in dead letters (AWS: ISO 8601, milliseconds, Z).
func isoTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
