package mapping

import (
	"regexp"

	"github.com/sluicehq/sluice/mapping/field"
)

var otherFields = []field.Field{
	{
		Name: "metricsConfig", AWS: "MetricsConfig", Type: field.Object(field.Field{
			Name: "metrics", AWS: "MetricsConfig.Metrics",
			Type: field.Type{
				Kind: field.KindList, Min: 0, Max: 3, Unique: true,
				Elem: &field.Type{Kind: field.KindEnum, Values: []string{string(MetricsEventCount), string(MetricsErrorCount), string(MetricsKafka)}},
			},
			Doc: "The groups.",
		}),
		DefaultNote: "all groups",
		Doc:         "The groups of metrics asked for. Sluice exposes all of them always, so the field is taken and changes nothing.",
		Source:      "AWS, EventSourceMappingMetricsConfig",
	},
	{
		Name: "loggingConfig", AWS: "LoggingConfig", Type: field.Object(field.Field{
			Name: "systemLogLevel", AWS: "LoggingConfig.SystemLogLevel", Type: enumOf(LogDebug, LogInfo, LogWarn), Doc: "The level.",
		}),
		NotYet: &field.NotYet{What: "a mapping's own log level", EmptyIsFine: true},
		Doc:    "The level of the mapping's own log.",
		Source: "AWS, EventSourceMappingLoggingConfig",
	},
	{
		Name: "tags", AWS: "Tags", Type: field.Map(field.Type{
			Kind: field.KindString, Min: 0, Max: 256, Pattern: regexp.MustCompile(tagText), Looks: "up to 256 letters, digits, blanks and the characters _ . : / = + - @",
		}, 50, tagKey, "1 to 128 letters, digits, blanks and the characters _ . : / = + - @"),
		NotYet: &field.NotYet{What: "tagging", EmptyIsFine: true},
		Doc:    "Labels of the mapping.",
		Source: "AWS, CreateEventSourceMapping, Tags",
	},
}

const (
	tagText = `^[\p{L}\p{Z}\p{N}_.:/=+@-]*$`
	tagKey  = `^[\p{L}\p{Z}\p{N}_.:/=+@-]{1,128}$`
)

// refusedFields are members of CreateEventSourceMapping and its responses that Sluice does not take, each with what to use
// instead.
var refusedFields = []field.Field{
	never("functionName", "FunctionName", "use function, which names an entry of functions"),
	never("eventSourceArn", "EventSourceArn", "use cluster, which names an entry of clusters; an MSK cluster's ARN is its arn"),
	never("selfManagedEventSource", "SelfManagedEventSource", "use cluster, which names an entry of clusters with its bootstrapServers"),
	never("sourceAccessConfigurations", "SourceAccessConfigurations", "use the tls and sasl of the cluster"),
	never("selfManagedKafkaEventSourceConfig", "SelfManagedKafkaEventSourceConfig",
		"its members stand in the mapping itself: consumptionMode, consumerGroupId, schemaRegistryConfig"),
	never("amazonManagedKafkaEventSourceConfig", "AmazonManagedKafkaEventSourceConfig",
		"its members stand in the mapping itself: consumerGroupId, schemaRegistryConfig"),
	never("onFailure", "DestinationConfig.OnFailure", "use destinationConfig.onFailure"),
	never("onSuccess", "DestinationConfig.OnSuccess", "it is not for Kafka event sources, at AWS neither; use destinationConfig.onFailure"),
	never("minimumPollers", "ProvisionedPollerConfig.MinimumPollers", "use provisionedPollerConfig.minimumPollers"),
	never("maximumPollers", "ProvisionedPollerConfig.MaximumPollers", "use provisionedPollerConfig.maximumPollers"),
	never("queues", "Queues", "it is for Amazon MQ; use topics"),
	never("parallelizationFactor", "ParallelizationFactor",
		"it is for Kinesis and DynamoDB; use provisionedPollerConfig and pollerLimits.concurrency"),
	never("tumblingWindowInSeconds", "TumblingWindowInSeconds", "it is for Kinesis and DynamoDB; Kafka event sources have no tumbling window"),
	never("scalingConfig", "ScalingConfig", "it is for SQS; use provisionedPollerConfig and pollerLimits.concurrency"),
	never("documentDBEventSourceConfig", "DocumentDBEventSourceConfig", "it is for Amazon DocumentDB"),
	never("uuid", "UUID", "a mapping's UUID is made from its name"),
	never("functionArn", "FunctionArn", "AWS returns it, but does not take it; use function"),
	never("eventSourceMappingArn", "EventSourceMappingArn", "AWS returns it, but does not take it"),
	never("state", "State", "AWS returns it, but does not take it; use enabled"),
	never("stateTransitionReason", "StateTransitionReason", "AWS returns it, but does not take it"),
	never("lastModified", "LastModified", "AWS returns it, but does not take it"),
	never("lastProcessingResult", "LastProcessingResult", "AWS returns it, but does not take it"),
	never("filterCriteriaError", "FilterCriteriaError", "AWS returns it, but does not take it"),
}

func never(name, aws, instead string) field.Field {
	return field.Field{Name: name, AWS: aws, Never: "is not taken: " + instead}
}
