package mapping

import (
	"regexp"
	"time"

	"github.com/sluicehq/sluice/mapping/field"
)

const (
	// DefaultDeduplicationInterval is that of SQS FIFO queues.
	DefaultDeduplicationInterval = 5 * time.Minute
	// DefaultMaximumInFlight is that of SQS: the most records of the in-flight window of a partition.
	DefaultMaximumInFlight = 120000
)

// headerName is what «header:NAME» names: a Kafka header's key without blanks.
const headerName = `header:[^\s]{1,200}`

var orderedFields = []field.Field{
	{
		Name: "messageGroup", Refused: onlyInOrdered(), Default: "key",
		Type: field.String(1, 1024, `^(key|`+headerName+`|value:(/.*)?)$`, "key, header:NAME or value:/json/pointer"),
		Doc: "What makes a record's message group: its key, a header, or a member of its JSON value. A record without one is a " +
			"group of its own.",
	},
	{
		Name: "onExhausted", Refused: onlyInOrdered(),
		Type: enumOf(ExhaustedContinue, ExhaustedBlock, ExhaustedDivert), Default: string(ExhaustedContinue),
		Doc: "What becomes of a group whose first record has used up its attempts: `continue` gives up the record, `block` holds " +
			"the group, `divert` sends the rest of the group to the destination in order (needs one).",
	},
	{
		Name: "deduplication", Refused: onlyInOrdered(), Default: "off",
		Type:   field.String(1, 256, `^(off|content|`+headerName+`)$`, "off, content or header:NAME"),
		Doc:    "Settles a record without delivering it if one with the same id came before in its partition within the interval.",
		Source: "Amazon SQS developer guide, exactly-once processing",
	},
	{
		Name: "deduplicationInterval", Refused: onlyInOrdered(), Default: DefaultDeduplicationInterval,
		Type: field.Type{Kind: field.KindDuration, Min: int64(time.Second), Max: int64(24 * time.Hour)},
		Doc:  "How long an id is remembered.",
	},
	{
		Name: "maximumInFlight", Refused: onlyInOrdered(), Type: field.Int(1, 1000000),
		Default: int64(DefaultMaximumInFlight),
		Doc:     "The most records in the in-flight window of a partition.",
	},
	{
		Name: "fairness", Refused: onlyInOrdered(), Type: field.Switch(), Default: true,
		Doc: "Serves the groups by turn, so that a large one does not delay the others.",
	},
	{
		Name: "strict", Refused: onlyInOrdered(), Type: field.Switch(), Default: false,
		Doc: "Keeps a group exclusive over a crash too, at the price of a commit before each batch.",
	},
}

var queueFields = []field.Field{
	{
		Name: "queueProtocol", Refused: onlyInQueue(), Type: enumOf(QueueShare, QueueWindow), Default: string(QueueShare),
		NotYet: &field.NotYet{Values: []string{string(QueueWindow)}},
		Doc:    "`share` stands on Kafka's share groups (Kafka 4.2 or later), `window` on Sluice's own window over a consumer group.",
	},
	{
		Name: "shareAutoOffsetReset", Refused: onlyInQueue(), DefaultNote: "the broker's (latest)",
		Type: field.Type{
			Kind: field.KindString, Min: 1, Max: 64,
			Pattern: regexp.MustCompile(`^(earliest|latest|by_duration:P.+)$`),
			Looks:   "earliest, latest or by_duration:DURATION (ISO 8601, such as by_duration:PT1H)",
			Check:   wrongOffsetReset, Beyond: "whether the duration is one",
		},
		Doc: "Where a new share group starts.", Source: "Apache Kafka, group config share.auto.offset.reset (KIP-932)",
	},
	{
		Name: "shareRecordLocks", Refused: onlyInQueue(), Type: field.Int(100, 4000), DefaultNote: "the broker's (2000)",
		Doc: "The share group's limit of record locks per partition.", Source: "Apache Kafka, group.share.partition.max.record.locks",
	},
}

var isoDuration = regexp.MustCompile(`^P([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?$`)

// wrongOffsetReset says why text, which fits the pattern, has no ISO 8601 duration of days and times.
func wrongOffsetReset(text string) string {
	const prefix = "by_duration:"
	if len(text) < len(prefix) || text[:len(prefix)] != prefix {
		return ""
	}
	d := text[len(prefix):]
	if !isoDuration.MatchString(d) || d == "P" || d[len(d)-1] == 'T' {
		return "has no ISO 8601 duration such as PT1H"
	}
	return ""
}
