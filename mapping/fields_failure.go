package mapping

import (
	"regexp"
	"time"

	"github.com/sluicehq/sluice/mapping/field"
)

const (
	// InfiniteRetries is the value of MaximumRetryAttempts that never gives up.
	InfiniteRetries = -1
	// RetriesWithDestination is how often infinite retries are tried where a destination is set (AWS, Kafka event sources,
	// on-failure destinations).
	RetriesWithDestination = 10
	// DefaultInitialBackoff and DefaultMaximumBackoff pace the retries of a mapping that says nothing.
	DefaultInitialBackoff = time.Second
	DefaultMaximumBackoff = time.Minute
)

const destinationPath = "destinationConfig.onFailure.destination"

var failureFields = []field.Field{
	{
		Name: "maximumRetryAttempts", AWS: "MaximumRetryAttempts", Type: field.Int(InfiniteRetries, 10000),
		Default:     int64(InfiniteRetries),
		Cases:       []field.DefaultCase{{When: inQueue, Value: int64(0)}, {When: field.Has(destinationPath), Value: int64(RetriesWithDestination)}},
		DefaultNote: "-1; 10 when a destination is set; Queue: 0",
		Doc: "How often a failed batch is invoked again; the first invocation does not count. -1 is without end — but with a " +
			"destination it is 10 in Stream and Ordered mode, as AWS does it.",
		Source: "AWS, CreateEventSourceMapping, MaximumRetryAttempts; Lambda developer guide, Kafka on-failure destinations",
	},
	{
		Name: "maximumRecordAgeInSeconds", AWS: "MaximumRecordAgeInSeconds", Type: field.Int(60, 604800, -1), Default: int64(-1),
		Doc:    "The age, from the record's timestamp, after which a failing record is given up; -1 is without end.",
		Source: "AWS, CreateEventSourceMapping, MaximumRecordAgeInSeconds",
	},
	{
		Name: "bisectBatchOnFunctionError", AWS: "BisectBatchOnFunctionError", Type: field.Bool(), Default: false,
		Doc: "Halves a batch that the function failed and tries each half on its own, the first half first. The split itself " +
			"spends no attempt.",
		Source: "AWS, CreateEventSourceMapping, BisectBatchOnFunctionError",
	},
	{
		Name: "destinationConfig", AWS: "DestinationConfig", Type: field.Object(
			field.Field{
				Name: "onFailure", AWS: "DestinationConfig.OnFailure", Type: onFailureType,
				Doc: "Where records go that are given up.",
			},
			field.Field{Name: "onSuccess", AWS: "DestinationConfig.OnSuccess", Never: "is not for Kafka event sources, at AWS neither; use onFailure"},
		),
		Doc:    "The on-failure destination. Without one, records that are given up are dropped, counted and logged.",
		Source: "AWS, CreateEventSourceMapping, DestinationConfig",
	},
	{
		Name: "retry", Type: field.Object(
			field.Field{
				Name: "initialBackoff", Type: field.Type{Kind: field.KindDuration, Min: int64(time.Millisecond), Max: int64(time.Hour)},
				Default: DefaultInitialBackoff, Doc: "The upper bound of the first pause; it doubles with each attempt.",
			},
			field.Field{
				Name: "maximumBackoff", Type: field.Type{Kind: field.KindDuration, Min: int64(time.Millisecond), Max: int64(24 * time.Hour)},
				Default: DefaultMaximumBackoff, Doc: "Where the doubling ends.",
			},
		),
		Doc: "The pauses between attempts: exponential, with full jitter.",
	},
	{
		Name: "retryMode", Type: enumOf(RetryInPlace, RetryTopic), Default: string(RetryInPlace),
		NotYet: &field.NotYet{Values: []string{string(RetryTopic)}},
		Refused: []field.Refusal{
			{When: field.Is("consumptionMode", string(Queue), string(Ordered)), Why: "is for consumptionMode Stream alone"},
		},
		Doc: "Where a failing record waits: `block` keeps its partition waiting, as at AWS; `topic` sends it to a delayed retry " +
			"topic. Stream mode alone.",
	},
}

var onFailureType = field.Object(
	field.Field{
		Name: "destination", AWS: "DestinationConfig.OnFailure.Destination",
		Type: field.Type{
			Kind: field.KindString, Min: 0, Max: DestinationURIMax,
			Pattern: regexp.MustCompile(`^(|kafka://([a-zA-Z0-9][a-zA-Z0-9._-]{0,127}/)?[a-zA-Z0-9._-]{1,249}|s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|arn:aws[a-z-]*:(s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|(sqs|sns):[a-z0-9-]+:[0-9]{12}:[a-zA-Z0-9_-]{1,256}(\.fifo)?))$`),
			Looks:   destinationForms,
			Check:   wrongDestination, Beyond: "FIFO queues and topics, and the topics . and ..",
		},
		NotYet: &field.NotYet{What: "a destination other than a Kafka topic", Hint: "use kafka://TOPIC or kafka://CLUSTER/TOPIC", Pattern: regexp.MustCompile(`^(arn:|s3:)`)},
		Doc: "`kafka://topic` on the mapping's cluster, `kafka://cluster/topic` on another, the ARN of an SQS standard queue, " +
			"SNS standard topic or S3 bucket, or `s3://bucket`; empty for none. A topic that the mapping reads is refused.",
		Source: "AWS, OnFailure; `kafka://cluster/topic` and `s3://bucket` are Sluice's",
	},
	field.Field{
		Name: "format", Type: enumOf(FormatRecord, FormatAWS), Default: string(FormatRecord),
		Refused: []field.Refusal{{When: field.HasNot(destinationPath), Why: "needs a destination"}},
		Doc: "What a Kafka topic gets: `record` is each record whole, with `sluice-` headers that say where it came from and " +
			"why it failed; `aws` is AWS's JSON document.",
	},
)

// wrongDestination says why text cannot be a destination's address, or "".
func wrongDestination(text string) string {
	if text == "" {
		return ""
	}
	if _, err := ParseDestinationURI(text); err != nil {
		return err.Error()
	}
	return ""
}
