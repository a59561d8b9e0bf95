package mapping

import (
	"time"

	"github.com/sluicehq/sluice/mapping/field"
)

const (
	// DefaultBatchSize is the batch size where none is given (AWS, Kafka event sources).
	DefaultBatchSize = 100
	// DefaultBatchingWindow is the batching window where none is given (AWS, Kafka event sources).
	DefaultBatchingWindow = 500 * time.Millisecond
	// DefaultBatchBytes is Lambda's limit of a synchronous invocation's payload: 6 MiB.
	DefaultBatchBytes = 6291456
)

var batchFields = []field.Field{
	{
		Name: "batchSize", AWS: "BatchSize", Type: field.Int(1, 10000), Default: int64(DefaultBatchSize),
		Doc:    "The most records of one invocation. A batch may hold records of several partitions.",
		Source: "AWS, CreateEventSourceMapping, BatchSize",
	},
	{
		Name: "maximumBatchingWindowInSeconds", AWS: "MaximumBatchingWindowInSeconds", Type: field.Int(0, 300),
		DefaultNote: "500 ms",
		Refused:     []field.Refusal{{When: inQueue, Why: "is not for consumptionMode Queue, not even 0: a batch is what one fetch returned"}},
		Doc: "How long a batch may wait to fill up. 0 invokes at once with what is there. Whole seconds, as at AWS; the default " +
			"of half a second is reached by leaving the field out.",
		Source: "AWS, CreateEventSourceMapping, MaximumBatchingWindowInSeconds",
	},
	{
		Name: "maximumBatchBytes", Type: field.Type{Kind: field.KindSize, Min: 1024, Max: 1 << 30}, Default: int64(DefaultBatchBytes),
		Doc: "The most bytes of one encoded event. The default is Lambda's limit of 6 MiB (6291456); a function behind a URL may " +
			"take more.",
		Source: "AWS, Lambda quotas, invocation payload",
	},
	{
		Name: "payload", Type: enumOf(PayloadLambda, PayloadRaw, PayloadCloudEvents), Default: string(PayloadLambda),
		Doc: "The form of a batch: `lambda` is AWS's Kafka event document, `raw` the value of a single record (needs " +
			"`batchSize: 1`), `cloudevents` a batch of CloudEvents 1.0, or single ones with `batchSize: 1`. See FUNCTIONS.md.",
	},
	{
		Name: "functionResponseTypes", AWS: "FunctionResponseTypes",
		Type: field.Type{Kind: field.KindList, Min: 0, Max: 1, Elem: &field.Type{Kind: field.KindEnum, Values: []string{"ReportBatchItemFailures"}}},
		Doc: "`[ReportBatchItemFailures]` lets the function name the records that failed (`batchItemFailures`); without it " +
			"such a response counts as success.",
		Source: "AWS, CreateEventSourceMapping, FunctionResponseTypes",
	},
}
