package mapping

import (
	"reflect"
	"strings"
	"time"
)

// Mapping is one event source mapping, complete: every default is filled in, so that its readers need to know none.
// [Parse] makes one from configuration, [New] one with nothing but defaults. The default and the range of each field
// stand in the table ([Type]); here stands what the value means to who carries it out.
//
// A Mapping is a value: it is never changed after it was made, and its slices and maps are not to be written to.
type Mapping struct {
	// Name and UUID say which mapping it is. The UUID of a mapping in YAML is [UUIDFromName] of its name.
	Name Name
	UUID UUID

	// Function and Cluster name entries of the configuration's blocks; config has checked that they exist.
	Function FunctionName
	Cluster  ClusterName

	// Topics holds topic names, or one element that begins with "~": see [Mapping.TopicRegex].
	Topics []string

	// ConsumptionMode says how records are handed out; it is set.
	ConsumptionMode ConsumptionMode

	// ConsumerGroupID is Kafka's group id: of a consumer group in Stream and Ordered, of a share group in Queue.
	ConsumerGroupID string

	// GroupProtocol says how a consumer group shares its partitions. Empty in Queue.
	GroupProtocol GroupProtocol

	// Enabled says whether the mapping should run.
	Enabled bool

	// BatchSize is the most records of one invocation, 1 to 10 000.
	BatchSize int

	// BatchingWindow is how long a batch may wait to fill up; 0 invokes at once with what is there. 0 in Queue.
	BatchingWindow time.Duration

	// StartingPosition is where a group without committed offsets begins. Empty in Queue, where the broker decides.
	StartingPosition StartingPosition
	// StartingPositionTimestamp is set with AT_TIMESTAMP alone.
	StartingPositionTimestamp time.Time

	// OnTopicRecreated says what becomes of a topic that was deleted and created anew. Empty in Queue.
	OnTopicRecreated OnTopicRecreated

	// Filters holds the filter patterns as JSON text, at most 5; a record passes if one of them matches, or if there is none.
	Filters []string
	// FilterMismatch says what happens to a record whose format does not fit the pattern.
	FilterMismatch FilterMismatch
	// KMSKeyARN is the key that encrypts the filters at AWS.
	KMSKeyARN string

	// MaximumRetryAttempts counts the invocations after the first; -1 is infinite. It is the effective limit: infinite
	// retries with an on-failure destination are 10 in Stream and Ordered, whether -1 was written or not.
	MaximumRetryAttempts int
	// MaximumRecordAge is the age, from the record's timestamp, after which a failing record is given up. 0 is no limit
	// (AWS's -1); otherwise 60 s to 7 days.
	MaximumRecordAge time.Duration
	// BisectBatchOnFunctionError halves a batch that the function failed and tries each half on its own.
	BisectBatchOnFunctionError bool
	// ReportBatchItemFailures makes the function's batchItemFailures count; without it they are ignored.
	ReportBatchItemFailures bool
	// OnFailure is where given-up records go; zero for nowhere.
	OnFailure Destination
	// Retry paces the invocations after the first.
	Retry Retry
	// RetryMode says where a failing record waits.
	RetryMode RetryMode

	// Provisioned says whether provisionedPollerConfig was given with a member: 5 MB/s a poller instead of 1.
	Provisioned bool
	// MinimumPollers and MaximumPollers bound the pollers: 1 to 5 on-demand. In Stream more pollers than partitions are of
	// no use; that cap is the scaler's.
	MinimumPollers, MaximumPollers int
	// PollerGroupName names the poller group; empty for none.
	PollerGroupName string
	// PollerThroughput is the budget of each poller in bytes a second (key, value and headers, uncompressed, after
	// filtering); 0 is unlimited.
	PollerThroughput int64
	// PollerConcurrency is the most invocations at once of each poller.
	PollerConcurrency int
	// TargetDrainTime is the time within which the scaler tries to have the lag drained.
	TargetDrainTime time.Duration
	// Schedules change bounds, or enable and disable, by time.
	Schedules []Schedule

	// Payload is the form in which a batch goes to the function.
	Payload Payload
	// MaximumBatchBytes is the most bytes of one encoded event.
	MaximumBatchBytes int64

	// SchemaRegistry is nil for none.
	SchemaRegistry *SchemaRegistry

	// Ordered is what only Ordered mode looks at.
	Ordered OrderedFields
	// Queue is what only Queue mode looks at.
	Queue QueueFields

	// Metrics are the groups of metrics asked for. Sluice exposes all of them always.
	Metrics []MetricGroup
	// LogLevel is the level of the mapping's own log; empty for none.
	LogLevel LogLevel
	// Tags are the mapping's labels at AWS.
	Tags map[string]string
}

// Retry paces repeated invocations: exponential backoff with full jitter.
type Retry struct {
	// InitialBackoff is the upper bound of the first pause; it doubles with each attempt.
	InitialBackoff time.Duration
	// MaximumBackoff is where the doubling ends. It is not below InitialBackoff.
	MaximumBackoff time.Duration
}

// OrderedFields holds the fields of Ordered mode.
type OrderedFields struct {
	// MessageGroup says what makes a record's message group: "key", "header:NAME" or "value:/json/pointer".
	MessageGroup string
	// OnExhausted says what becomes of the group of a record whose attempts are used up.
	OnExhausted OnExhausted
	// Deduplication is "off", "content" or "header:NAME".
	Deduplication         string
	DeduplicationInterval time.Duration
	// MaximumInFlight bounds the records of the in-flight window of a partition.
	MaximumInFlight int
	// Fairness serves the groups by turn; Strict keeps a group exclusive over a crash.
	Fairness, Strict bool
}

// QueueFields holds the fields of Queue mode.
type QueueFields struct {
	Protocol QueueProtocol
	// ShareAutoOffsetReset is where a new share group starts: "earliest", "latest" or "by_duration:…"; empty leaves the
	// broker's setting.
	ShareAutoOffsetReset string
	// ShareRecordLocks is the group's limit of record locks per partition; 0 leaves the broker's setting.
	ShareRecordLocks int
}

// Schedule is one change of bounds at a time.
type Schedule struct {
	// Cron is a five-field cron expression, CRON_TZ=… in front allowed.
	Cron string
	// MinimumPollers and MaximumPollers are 0 where the schedule leaves them alone.
	MinimumPollers, MaximumPollers int
	// Enabled is nil where the schedule leaves it alone.
	Enabled *bool
}

// SchemaRegistry says how record bytes are turned into JSON (AWS, SchemaRegistryConfig).
type SchemaRegistry struct {
	// URI is an AWS Glue registry ARN or an http(s) URL.
	URI string
	// EventRecordFormat is "JSON" or "SOURCE".
	EventRecordFormat string
	AccessConfigs     []SchemaRegistryAccess
	// ValidateKey and ValidateValue say which attributes are validated.
	ValidateKey, ValidateValue bool
}

// SchemaRegistryAccess is one way to authenticate to a schema registry.
type SchemaRegistryAccess struct {
	// Type is BASIC_AUTH, CLIENT_CERTIFICATE_TLS_AUTH, SERVER_ROOT_CA_CERTIFICATE or OAUTHBEARER_AUTH.
	Type string
	// URI is the ARN of the secret.
	URI string
}

// TopicRegex returns the regular expression (RE2) that selects the topics, and whether the mapping selects them by one:
// then Topics holds a single element, "~" and the expression.
func (m *Mapping) TopicRegex() (string, bool) {
	if len(m.Topics) != 1 {
		return "", false
	}
	return strings.CutPrefix(m.Topics[0], "~")
}

// Equal says whether both are the same mapping with the same values, so that a reload need not touch it.
func (m *Mapping) Equal(o *Mapping) bool {
	return reflect.DeepEqual(m, o)
}
