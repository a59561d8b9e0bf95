package mapping

import (
	"time"

	"github.com/sluicehq/sluice/mapping/field"
)

// Check returns all that is wrong with n as a mapping, each problem's path beginning with path.
func Check(n *field.Node, path string, c field.Context) []field.Problem {
	return field.Check(&mappingType, n, path, c)
}

// Parse checks n as a mapping and returns it, or all that is wrong with it. The mapping's UUID is made from its name.
func Parse(n *field.Node, path string, c field.Context) (Mapping, []field.Problem) {
	if problems := Check(n, path, c); len(problems) > 0 {
		return Mapping{}, problems
	}
	return fromNode(n), nil
}

// FromChecked returns n, of which [Check] found nothing wrong, as a Mapping. It panics on another.
func FromChecked(n *field.Node) Mapping { return fromNode(n) }

// New returns a mapping in Stream mode with every default, as if nothing but the four had been written. It does not check
// them.
func New(name Name, function FunctionName, cluster ClusterName, topics ...string) Mapping {
	text := func(s string) *field.Node { return &field.Node{Kind: field.Text, Text: s} }
	list := &field.Node{Kind: field.Sequence}
	for _, t := range topics {
		list.Items = append(list.Items, text(t))
	}
	return fromNode(&field.Node{Kind: field.Dictionary, Members: []field.Member{
		{Key: "name", Value: text(string(name))},
		{Key: "function", Value: text(string(function))},
		{Key: "cluster", Value: text(string(cluster))},
		{Key: "topics", Value: list},
	}})
}

// reader reads the fields of one checked mapping, with their defaults.
type reader struct{ n *field.Node }

func (r reader) text(path string) string { return field.Read[string](&fields, r.n, path) }
func (r reader) flag(path string) bool   { return field.Read[bool](&fields, r.n, path) }
func (r reader) number(path string) int  { return int(field.Read[int64](&fields, r.n, path)) }
func (r reader) bytes(path string) int64 { return field.Read[int64](&fields, r.n, path) }
func (r reader) duration(path string) time.Duration {
	return field.Read[time.Duration](&fields, r.n, path)
}

// textOr, numberOr and seconds read fields without a default of their own.
func (r reader) textOr(path, absent string) string {
	if r.n.At(path) == nil {
		return absent
	}
	return r.text(path)
}

func (r reader) numberOr(path string, absent int) int {
	if r.n.At(path) == nil {
		return absent
	}
	return r.number(path)
}

// fromNode turns a checked mapping into a Mapping.
func fromNode(n *field.Node) Mapping {
	r := reader{n}
	m := Mapping{
		Name:            Name(r.text("name")),
		Function:        FunctionName(r.text("function")),
		Cluster:         ClusterName(r.text("cluster")),
		Topics:          field.Strings(n, "topics"),
		ConsumptionMode: ConsumptionMode(r.text("consumptionMode")),
		Enabled:         r.flag("enabled"),
	}
	m.UUID = UUIDFromName(m.Name)
	m.ConsumerGroupID = r.textOr("consumerGroupId", DefaultConsumerGroupID(m.Name))
	r.start(&m)
	r.batches(&m)
	r.filters(&m)
	r.failure(&m)
	r.pollers(&m)
	r.modes(&m)
	r.others(&m)
	return m
}

func (r reader) start(m *Mapping) {
	if m.ConsumptionMode == Queue {
		return
	}
	m.GroupProtocol = GroupProtocol(r.text("groupProtocol"))
	m.StartingPosition = StartingPosition(r.text("startingPosition"))
	m.OnTopicRecreated = OnTopicRecreated(r.text("onTopicRecreated"))
	if r.n.At("startingPositionTimestamp") != nil {
		m.StartingPositionTimestamp = field.Read[time.Time](&fields, r.n, "startingPositionTimestamp")
	}
}

func (r reader) batches(m *Mapping) {
	m.BatchSize = r.number("batchSize")
	m.MaximumBatchBytes = r.bytes("maximumBatchBytes")
	m.Payload = Payload(r.text("payload"))
	m.ReportBatchItemFailures = len(field.Strings(r.n, "functionResponseTypes")) > 0
	if m.ConsumptionMode == Queue {
		return
	}
	m.BatchingWindow = DefaultBatchingWindow
	if r.n.At("maximumBatchingWindowInSeconds") != nil {
		m.BatchingWindow = time.Duration(r.number("maximumBatchingWindowInSeconds")) * time.Second
	}
}

func (r reader) filters(m *Mapping) {
	m.FilterMismatch = FilterMismatch(r.text("filterMismatch"))
	m.KMSKeyARN = r.textOr("kmsKeyArn", "")
	if list := r.n.At("filterCriteria.filters"); list != nil {
		for _, f := range list.Items {
			text, _ := patternText(f.At("pattern")) // checked
			m.Filters = append(m.Filters, text)
		}
	}
	m.SchemaRegistry = r.registry()
}

func (r reader) registry() *SchemaRegistry {
	n := r.n.At("schemaRegistryConfig")
	if n == nil || len(n.Members) == 0 {
		return nil
	}
	s := &SchemaRegistry{URI: n.At("schemaRegistryURI").Text, EventRecordFormat: n.At("eventRecordFormat").Text}
	for _, v := range n.At("schemaValidationConfigs").Items {
		if v.At("attribute").Text == "KEY" {
			s.ValidateKey = true
		} else {
			s.ValidateValue = true
		}
	}
	if list := n.At("accessConfigs"); list != nil {
		for _, a := range list.Items {
			s.AccessConfigs = append(s.AccessConfigs, SchemaRegistryAccess{Type: a.At("type").Text, URI: a.At("uri").Text})
		}
	}
	return s
}

func (r reader) failure(m *Mapping) {
	if uri := r.textOr(destinationPath, ""); uri != "" {
		m.OnFailure = Destination{URI: uri, Format: DestinationFormat(r.text("destinationConfig.onFailure.format"))}
	}
	m.MaximumRetryAttempts = r.number("maximumRetryAttempts")
	if m.MaximumRetryAttempts == InfiniteRetries && !m.OnFailure.IsZero() && m.ConsumptionMode != Queue {
		m.MaximumRetryAttempts = RetriesWithDestination
	}
	if age := r.number("maximumRecordAgeInSeconds"); age > 0 {
		m.MaximumRecordAge = time.Duration(age) * time.Second
	}
	m.BisectBatchOnFunctionError = r.flag("bisectBatchOnFunctionError")
	m.Retry = Retry{InitialBackoff: r.duration("retry.initialBackoff"), MaximumBackoff: r.duration("retry.maximumBackoff")}
	m.RetryMode = RetryMode(r.text("retryMode"))
}

func (r reader) pollers(m *Mapping) {
	m.Provisioned = provisioned.Holds(r.n)
	m.MinimumPollers = r.number("provisionedPollerConfig.minimumPollers")
	m.MaximumPollers = r.number("provisionedPollerConfig.maximumPollers")
	m.PollerGroupName = r.textOr("provisionedPollerConfig.pollerGroupName", "")
	m.PollerThroughput = r.bytes("pollerLimits.throughput")
	m.PollerConcurrency = r.number("pollerLimits.concurrency")
	m.TargetDrainTime = r.duration("targetDrainTime")
	if list := r.n.At("schedules"); list != nil {
		for _, s := range list.Items {
			m.Schedules = append(m.Schedules, schedule(s))
		}
	}
}

func schedule(n *field.Node) Schedule {
	t := fields.Field("schedules").Type.Elem
	s := Schedule{Cron: n.At("cron").Text}
	if n.At("minimumPollers") != nil {
		s.MinimumPollers = int(field.Read[int64](t, n, "minimumPollers"))
	}
	if n.At("maximumPollers") != nil {
		s.MaximumPollers = int(field.Read[int64](t, n, "maximumPollers"))
	}
	if n.At("enabled") != nil {
		enabled := field.Read[bool](t, n, "enabled")
		s.Enabled = &enabled
	}
	return s
}

func (r reader) modes(m *Mapping) {
	switch m.ConsumptionMode {
	case Ordered:
		m.Ordered = OrderedFields{
			MessageGroup:          r.text("messageGroup"),
			OnExhausted:           OnExhausted(r.text("onExhausted")),
			Deduplication:         r.text("deduplication"),
			DeduplicationInterval: r.duration("deduplicationInterval"),
			MaximumInFlight:       r.number("maximumInFlight"),
			Fairness:              r.flag("fairness"),
			Strict:                r.flag("strict"),
		}
	case Queue:
		m.Queue = QueueFields{
			Protocol:             QueueProtocol(r.text("queueProtocol")),
			ShareAutoOffsetReset: r.textOr("shareAutoOffsetReset", ""),
			ShareRecordLocks:     r.numberOr("shareRecordLocks", 0),
		}
	}
}

func (r reader) others(m *Mapping) {
	for _, group := range field.Strings(r.n, "metricsConfig.metrics") {
		m.Metrics = append(m.Metrics, MetricGroup(group))
	}
	m.LogLevel = LogLevel(r.textOr("loggingConfig.systemLogLevel", ""))
	if tags := r.n.At("tags"); tags != nil && len(tags.Members) > 0 {
		m.Tags = map[string]string{}
		for _, tag := range tags.Members {
			m.Tags[tag.Key] = tag.Value.Text
		}
	}
}
