package mapping

import (
	"time"

	"github.com/sluicehq/sluice/mapping/field"
)

const (
	// OnDemandPollers is the most pollers of a mapping without provisionedPollerConfig.
	OnDemandPollers = 5
	// DefaultMaximumPollers is the most pollers of a provisioned mapping that does not say.
	DefaultMaximumPollers = 200
	// OnDemandThroughput and ProvisionedThroughput are a poller's bytes a second; a megabyte is 10⁶ bytes.
	OnDemandThroughput    = 1_000_000
	ProvisionedThroughput = 5_000_000
	// StreamConcurrency and QueueConcurrency are a poller's invocations at once: the first in Stream, the second in Queue
	// and Ordered.
	StreamConcurrency = 5
	QueueConcurrency  = 10
	// DefaultTargetDrainTime is the time in which the scaler tries to have the lag drained.
	DefaultTargetDrainTime = time.Minute
)

// provisioned holds where provisionedPollerConfig has a member; «{}» is on-demand, as at AWS.
var provisioned = field.Has("provisionedPollerConfig")

var pollerFields = []field.Field{
	{
		Name: "provisionedPollerConfig", AWS: "ProvisionedPollerConfig", Type: field.Object(
			field.Field{
				Name: "minimumPollers", AWS: "ProvisionedPollerConfig.MinimumPollers", Type: field.Int(1, 200), Default: int64(1),
				Doc: "The fewest pollers.",
			},
			field.Field{
				Name: "maximumPollers", AWS: "ProvisionedPollerConfig.MaximumPollers", Type: field.Int(1, 2000),
				Default: int64(OnDemandPollers), DefaultNote: "200",
				Cases: []field.DefaultCase{{When: provisioned, Value: int64(DefaultMaximumPollers)}},
				Doc:   "The most pollers. In Stream mode more pollers than partitions are of no use. Equal bounds switch scaling off.",
			},
			field.Field{
				Name: "pollerGroupName", AWS: "ProvisionedPollerConfig.PollerGroupName",
				Type:   field.String(0, 128, `^[a-zA-Z0-9_-]*$`, "up to 128 letters, digits, '_' and '-'"),
				NotYet: &field.NotYet{What: "a poller group", EmptyIsFine: true},
				Doc:    "The group of mappings whose pollers are shared; all of one mode.",
			},
		),
		DefaultNote: "on-demand",
		Doc: "With any member, provisioned: the pollers scale between the two bounds with 5 MB/s each. Without, or as `{}`, " +
			"on-demand: 1 to 5 pollers with 1 MB/s each.",
		Source: "AWS, ProvisionedPollerConfig",
	},
	{
		Name: "pollerLimits", Type: field.Object(
			field.Field{
				Name: "throughput", Type: field.Type{Kind: field.KindRate, Min: 1000, Max: 100e9},
				Default: int64(OnDemandThroughput), DefaultNote: "`1MB/s`, provisioned `5MB/s`",
				Cases: []field.DefaultCase{{When: provisioned, Value: int64(ProvisionedThroughput)}},
				Doc: "Each poller's bytes a second, or `unlimited`: key, value and headers, uncompressed, after filtering, charged " +
					"once. MB is 10⁶ bytes.",
			},
			field.Field{
				Name: "concurrency", Type: field.Int(1, 1000), Default: int64(StreamConcurrency), DefaultNote: "Stream 5, Queue and Ordered 10",
				Cases: []field.DefaultCase{{When: field.Is("consumptionMode", string(Queue), string(Ordered)), Value: int64(QueueConcurrency)}},
				Doc:   "Each poller's invocations at once.",
			},
		),
		DefaultNote: "AWS's caps",
		Doc:         "The caps of each poller. AWS has fixed ones, which are the defaults.",
	},
	{
		Name: "targetDrainTime", Type: field.Type{Kind: field.KindDuration, Min: int64(time.Second), Max: int64(24 * time.Hour)},
		Default: DefaultTargetDrainTime,
		Doc:     "The time within which the scaler tries to have the lag drained: shorter means more pollers sooner.",
	},
	{
		Name: "schedules", Type: field.List(field.Object(
			field.Field{
				Name: "cron", Type: field.String(1, 256, "", ""), Required: true,
				Doc: "When: a cron expression of five fields, `CRON_TZ=…` in front allowed.",
			},
			field.Field{Name: "minimumPollers", Type: field.Int(1, 200), Doc: "The fewest pollers from then on."},
			field.Field{Name: "maximumPollers", Type: field.Int(1, 2000), Doc: "The most pollers from then on."},
			field.Field{Name: "enabled", Type: field.Bool(), Doc: "Whether the mapping runs from then on."},
		), 0, 100),
		NotYet: &field.NotYet{What: "a schedule", EmptyIsFine: true},
		Doc:    "Changes the bounds, or enables and disables the mapping, by time.",
	},
}
