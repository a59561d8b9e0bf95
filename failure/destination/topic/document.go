package topic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// failureRecord is Lambda's failure record for a Kafka topic destination, one per record, its members in Lambda's
// order (AWS, «Retain discarded batches for a Kafka event source», Kafka topic).
type failureRecord struct {
	RequestContext  requestContext   `json:"requestContext"`
	ResponseContext *json.RawMessage `json:"responseContext,omitempty"`
	Version         string           `json:"version"`
	Timestamp       string           `json:"timestamp"`
	KafkaBatchInfo  kafkaBatchInfo   `json:"KafkaBatchInfo"`
	Payload         json.RawMessage  `json:"payload,omitempty"`
	// PayloadReference is ours: where the record stands, when the payload was too large for this topic.
	PayloadReference *payloadReference `json:"payloadReference,omitempty"`
}

type requestContext struct {
	RequestID              string `json:"requestId"`
	FunctionARN            string `json:"functionArn"`
	Condition              string `json:"condition"`
	ApproximateInvokeCount int    `json:"approximateInvokeCount"`
}

type responseContext struct {
	StatusCode      *int    `json:"statusCode"`
	ExecutedVersion string  `json:"executedVersion"`
	FunctionError   *string `json:"functionError"`
}

type kafkaBatchInfo struct {
	BatchSize        int        `json:"batchSize"`
	EventSourceARN   string     `json:"eventSourceArn,omitempty"`
	BootstrapServers string     `json:"bootstrapServers"`
	PayloadSize      int        `json:"payloadSize"`
	RecordInfo       recordInfo `json:"recordInfo"`
}

type recordInfo struct {
	Offset    string `json:"offset"`
	Timestamp string `json:"timestamp"`
}

type payloadReference struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// document writes the failure record of record i of the run, with the event that holds the record alone or, without
// payload, with a reference to it.
func (t *Topic) document(run record.Run, i int, payload bool) []byte {
	r := run.Records[i]
	event := t.encoder.Append(nil, []record.Run{{TopicPartition: run.TopicPartition, Records: run.Records[i : i+1]}})
	retry := run.Retry
	if retry == nil {
		retry = &record.Retry{}
	}
	doc := failureRecord{
		RequestContext: requestContext{
			RequestID: retry.Last.RequestID, FunctionARN: t.config.FunctionARN,
			Condition: condition(retry.GiveUp), ApproximateInvokeCount: retry.Invocations,
		},
		ResponseContext: response(retry),
		Version:         "1.0",
		Timestamp:       isoTime(t.config.Now()),
		KafkaBatchInfo: kafkaBatchInfo{
			BatchSize: 1, BootstrapServers: strings.Join(t.config.Source.BootstrapServers, ","), PayloadSize: len(event),
			RecordInfo: recordInfo{Offset: strconv.FormatInt(r.Offset, 10), Timestamp: isoTime(r.Timestamp)},
		},
	}
	if t.config.Source.EventSource == invoke.MSK {
		doc.KafkaBatchInfo.EventSourceARN = t.config.Source.EventSourceARN
	}
	if payload {
		doc.Payload = event
	} else {
		doc.PayloadReference = &payloadReference{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}
	}
	return marshal(doc)
}

// condition spells a condition as it stands in documents to Kafka topics: there, and only there, AWS's example has
// RetriesExhausted for attempts used up.
func condition(c record.Condition) string {
	if c == record.RetryAttemptsExhausted {
		return "RetriesExhausted"
	}
	return string(c)
}

var null = json.RawMessage("null")

// response tells the function's last answer: null for a record that no invocation could carry, absent where none ever
// was answered. The function's status is 200 for a partial failure, without function error. Where an invocation failed
// without an answer (a time-out), it is a function error without status.
func response(retry *record.Retry) *json.RawMessage {
	last := retry.Last
	if retry.GiveUp == record.MaximumPayloadSizeExceeded {
		return &null
	}
	spent := false
	for k := invoke.FunctionError; k <= invoke.Canceled; k++ {
		spent = spent || k.String() == last.Kind && k.SpendsAttempt()
	}
	if last.Status == 0 && !spent && !last.Partial {
		return nil
	}
	answer := responseContext{ExecutedVersion: "$LATEST"}
	if last.Status != 0 {
		answer.StatusCode = &last.Status
	}
	if spent {
		unhandled := "Unhandled"
		answer.FunctionError = &unhandled
	}
	raw := json.RawMessage(marshal(answer))
	return &raw
}

// marshal writes JSON as it is, without the escapes for web pages.
func marshal(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(fmt.Sprintf("topic: failure record: %v", err)) // our own structures and our own event
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
