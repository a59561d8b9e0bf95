package mapping

import (
	"regexp"

	"github.com/sluicehq/sluice/mapping/field"
)

var sourceFields = []field.Field{
	{
		Name: "name", Type: entryNameType(), Required: true,
		Doc: "The mapping's name, unique in the service. Its UUID is UUIDv5 of the name and its default consumer group is " +
			"`sluice-<name>`, so a renamed mapping is another one and begins at its starting position.",
	},
	{
		Name: "function", AWS: "FunctionName", Type: entryNameType(), Required: true,
		Doc: "The entry of `functions` that is invoked.",
	},
	{
		Name: "cluster", AWS: "SelfManagedEventSource", Type: entryNameType(), Required: true,
		Doc: "The entry of `clusters` that is read; it stands for AWS's SelfManagedEventSource and SourceAccessConfigurations.",
	},
	{
		Name: "topics", AWS: "Topics", Required: true,
		Type: field.Type{
			Kind: field.KindList, Min: 1, Max: 100, Unique: true,
			Elem: &field.Type{
				Kind: field.KindString, Min: 1, Max: TopicExpressionMax + 1, Pattern: regexp.MustCompile(topicElement),
				Looks: "a topic name of up to 249 letters, digits, '.', '_' and '-', or ~ and a regular expression",
				Check: wrongTopic, Beyond: "whether the expression behind ~ compiles (RE2)",
			},
		},
		Doc: "The topics that are read: several names (AWS takes one), or a single `~regex` that selects topics by name, new " +
			"ones included. The expression is RE2 and is not anchored: write `~^orders-.*$`.",
		Source: "Apache Kafka, Topic.validate; AWS, CreateEventSourceMapping, Topics",
	},
	{
		Name: "consumptionMode", AWS: "SelfManagedKafkaEventSourceConfig.ConsumptionMode",
		Type: enumOf(Stream, Queue, Ordered), Default: string(Stream),
		NotYet: &field.NotYet{Values: []string{string(Queue), string(Ordered)}},
		Doc: "How records are handed out: `Stream` keeps the order of each partition, `Queue` keeps none and shares partitions " +
			"among any number of pollers, `Ordered` keeps the order of each message group (AWS has no such mode).",
		Source: "AWS, SelfManagedKafkaEventSourceConfig",
	},
	{
		Name: "consumerGroupId", AWS: "SelfManagedKafkaEventSourceConfig.ConsumerGroupId",
		Type: field.String(1, 200, `^[ a-zA-Z0-9/*:_+=.@-]*$`, "1 to 200 letters, digits, blanks and the characters / * : _ + = . @ -"),

		DefaultNote: "`sluice-<name>`",
		Doc: "The consumer group, in Queue mode the share group. Two mappings may not share one on the same cluster. A group " +
			"with committed offsets goes on from there, whatever `startingPosition` says.",
		Source: "AWS, SelfManagedKafkaEventSourceConfig",
	},
	{
		Name: "groupProtocol", Type: enumOf(GroupAuto, GroupClassic, GroupConsumer), Default: string(GroupAuto),
		Refused: []field.Refusal{{When: inQueue, Why: "is not for consumptionMode Queue: a share group has a protocol of its own"}},
		Doc: "How the consumer group shares its partitions: `consumer` has the brokers assign them (KIP-848; Kafka 4.0 or later), " +
			"`classic` the members among themselves. `auto` is `consumer` where every broker is of Kafka 4.3 or later, else " +
			"`classic`. A group changes while it runs, and keeps its offsets.",
		Source: "Apache Kafka, group.protocol (KIP-848)",
	},
	{
		Name: "startingPosition", AWS: "StartingPosition",
		Type: enumOf(TrimHorizon, Latest, AtTimestamp), Default: string(TrimHorizon),
		Refused: []field.Refusal{{When: inQueue, Why: "is not for consumptionMode Queue: a share group begins where the broker's share.auto.offset.reset says"}},
		Doc: "Where a group without committed offsets begins: at the oldest record (`TRIM_HORIZON`), behind the newest " +
			"(`LATEST`), or at a time (`AT_TIMESTAMP`). The position is committed at the first assignment, so that a restart " +
			"neither skips nor repeats.",
		Source: "AWS, CreateEventSourceMapping, StartingPosition",
	},
	{
		Name: "startingPositionTimestamp", AWS: "StartingPositionTimestamp", Type: field.Type{Kind: field.KindTime},
		Refused: []field.Refusal{
			{When: inQueue, Why: "is not for consumptionMode Queue: a share group begins where the broker's share.auto.offset.reset says"},
			{When: field.IsNot("startingPosition", string(AtTimestamp)), Why: "is allowed with startingPosition AT_TIMESTAMP alone"},
		},
		RequiredWhen: []field.Requirement{{When: field.Is("startingPosition", string(AtTimestamp)), Why: "with startingPosition AT_TIMESTAMP"}},
		Doc: "The time from which a group without committed offsets reads: the first record of each partition whose timestamp " +
			"is not before it. It may not lie in the future.",
		Source: "AWS, CreateEventSourceMapping, StartingPositionTimestamp",
	},
	{
		Name: "onTopicRecreated", Type: enumOf(RecreatedStartAtBeginning, RecreatedStop), Default: string(RecreatedStartAtBeginning),
		Refused: []field.Refusal{{When: inQueue, Why: "is not for consumptionMode Queue: a share group begins where the broker's share.auto.offset.reset says"}},
		Doc: "What becomes of a topic that is deleted and created anew under its name: `startAtBeginning` reads the new topic from " +
			"its oldest record, whatever `startingPosition` says; `stop` reads nothing of it, and status and readiness say so.",
	},
	{
		Name: "enabled", AWS: "Enabled", Type: field.Bool(), Default: true,
		Doc: "Whether the mapping runs. A disabled one keeps its place.",
	},
}

// topicElement is what an element of topics looks like: a name that is not "." or "..", or "~" and an expression.
const topicElement = `^(~[\s\S]+|\.?[a-zA-Z0-9_-][a-zA-Z0-9._-]*|\.\.[a-zA-Z0-9._-]+)$`
