package mapping

// ConsumptionMode says how records are handed out: AWS's Stream and Queue, and Sluice's Ordered. The zero value is none.
type ConsumptionMode string

// The consumption modes.
const (
	// Stream reads as a consumer group and keeps the order of each partition. It is the default.
	Stream ConsumptionMode = "Stream"
	// Queue reads as a share group: no order, any number of pollers on a partition.
	Queue ConsumptionMode = "Queue"
	// Ordered reads as a consumer group through an in-flight window and keeps the order of each message group.
	Ordered ConsumptionMode = "Ordered"
)

// GroupProtocol says how the members of the mapping's consumer group share its partitions.
type GroupProtocol string

// The group protocols, as Kafka names them.
const (
	// GroupAuto chooses by what the cluster can do. It is the default.
	GroupAuto GroupProtocol = "auto"
	// GroupClassic is the protocol of every Kafka: the members agree among themselves.
	GroupClassic GroupProtocol = "classic"
	// GroupConsumer is KIP-848: the brokers assign.
	GroupConsumer GroupProtocol = "consumer"
)

// StartingPosition is where a consumer group without committed offsets begins.
type StartingPosition string

// The starting positions.
const (
	// TrimHorizon begins at the oldest record that the topic still holds. It is the default.
	TrimHorizon StartingPosition = "TRIM_HORIZON"
	// Latest begins behind the newest record at the time of the first assignment.
	Latest StartingPosition = "LATEST"
	// AtTimestamp begins at the first record whose timestamp is not before StartingPositionTimestamp.
	AtTimestamp StartingPosition = "AT_TIMESTAMP"
)

// OnTopicRecreated says what becomes of a topic that was deleted and created anew under its name.
type OnTopicRecreated string

// What may become of it.
const (
	// RecreatedStartAtBeginning reads the new topic from its oldest record. It is the default.
	RecreatedStartAtBeginning OnTopicRecreated = "startAtBeginning"
	// RecreatedStop reads nothing of it and says so, until somebody decides.
	RecreatedStop OnTopicRecreated = "stop"
)

// FilterMismatch says what happens to a record whose format (JSON object or text) does not fit the filter pattern.
type FilterMismatch string

// What may happen to a record that does not fit the pattern's format.
const (
	// FilterMismatchPass lets it pass, as AWS documents it. It is the default.
	FilterMismatchPass FilterMismatch = "pass"
	// FilterMismatchDrop filters it out.
	FilterMismatchDrop FilterMismatch = "drop"
)

// RetryMode says where a failing record waits for its next attempt.
type RetryMode string

// The retry modes.
const (
	// RetryInPlace keeps the record and those behind it in its partition waiting. It is the default.
	RetryInPlace RetryMode = "block"
	// RetryTopic sends the record to a delayed retry topic, so that its partition goes on.
	RetryTopic RetryMode = "topic"
)

// Payload is the form in which a batch goes to the function.
type Payload string

// The payloads.
const (
	// PayloadLambda is the Kafka event document of AWS Lambda. It is the default.
	PayloadLambda Payload = "lambda"
	// PayloadRaw is the value of one record, as it is.
	PayloadRaw Payload = "raw"
	// PayloadCloudEvents is a batch of CloudEvents.
	PayloadCloudEvents Payload = "cloudevents"
)

// OnExhausted says what becomes of a message group whose first record has used up its attempts.
type OnExhausted string

// What may become of such a group.
const (
	// ExhaustedContinue gives up the record and goes on with the group. It is the default.
	ExhaustedContinue OnExhausted = "continue"
	// ExhaustedBlock holds the group until someone decides.
	ExhaustedBlock OnExhausted = "block"
	// ExhaustedDivert sends the record and the rest of its group to the destination, in order.
	ExhaustedDivert OnExhausted = "divert"
)

// QueueProtocol says what Queue mode stands on.
type QueueProtocol string

// The queue protocols.
const (
	// QueueShare is Kafka's share groups. It is the default.
	QueueShare QueueProtocol = "share"
	// QueueWindow is Sluice's own window over a consumer group, for clusters without share groups.
	QueueWindow QueueProtocol = "window"
)

// MetricGroup is one of CloudWatch's groups of event source mapping metrics.
type MetricGroup string

// The metric groups.
const (
	// MetricsEventCount counts records: polled, filtered out, invoked, failed, dropped, committed.
	MetricsEventCount MetricGroup = "EventCount"
	// MetricsErrorCount counts errors of polling, invoking, delivering and committing.
	MetricsErrorCount MetricGroup = "ErrorCount"
	// MetricsKafka is the offset lag.
	MetricsKafka MetricGroup = "KafkaMetrics"
)

// LogLevel is the level of a mapping's own log.
type LogLevel string

// The log levels; each includes those after it.
const (
	// LogDebug adds the state of the partitions each minute.
	LogDebug LogLevel = "DEBUG"
	// LogInfo adds changes of membership.
	LogInfo LogLevel = "INFO"
	// LogWarn is problems alone.
	LogWarn LogLevel = "WARN"
)
