package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/filter"
	"github.com/sluicehq/sluice/mapping/field"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// node returns the members of a JSON object, added to those that every mapping needs, as a tree.
func node(t *testing.T, members string) *field.Node {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(`{"name":"orders","function":"f","cluster":"main","topics":["orders"]` + "," + members + "}")))
	decoder.UseNumber()
	var v map[string]any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	return tree(v)
}

func tree(v any) *field.Node {
	switch v := v.(type) {
	case bool:
		return &field.Node{Kind: field.Boolean, Text: fmt.Sprint(v)}
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return &field.Node{Kind: field.Float, Text: string(v)}
		}
		return &field.Node{Kind: field.Integer, Text: string(v)}
	case string:
		return &field.Node{Kind: field.Text, Text: v}
	case []any:
		n := &field.Node{Kind: field.Sequence}
		for _, item := range v {
			n.Items = append(n.Items, tree(item))
		}
		return n
	case map[string]any:
		n := &field.Node{Kind: field.Dictionary}
		for k, item := range v {
			n.Members = append(n.Members, field.Member{Key: k, Value: tree(item)})
		}
		slices.SortFunc(n.Members, func(a, b field.Member) int { return strings.Compare(a.Key, b.Key) })
		return n
	}
	return &field.Node{}
}

// later is a context in which what is not yet supported is, so that the rules of its modes can be tested before.
var later = field.Context{Now: now, AllowNotYet: true}

func parse(t *testing.T, members string) Mapping {
	t.Helper()
	m, problems := Parse(node(t, members), "m", later)
	if len(problems) > 0 {
		t.Fatalf("%s: %v", members, problems)
	}
	return m
}

func TestDefaultsOfEachMode(t *testing.T) {
	stream := New("orders", "f", "main", "orders")
	if got := parse(t, `"enabled":true`); !got.Equal(&stream) {
		t.Errorf("New and Parse differ: %+v and %+v", stream, got)
	}
	// AWS, Kafka event sources: Stream retries without end, Queue not at all; 5 and 10 invocations a poller.
	queue, ordered := parse(t, `"consumptionMode":"Queue"`), parse(t, `"consumptionMode":"Ordered"`)
	type key struct {
		retries, concurrency int
		window               time.Duration
		start                StartingPosition
	}
	for name, c := range map[string]struct {
		m    Mapping
		want key
	}{
		"Stream":  {stream, key{-1, 5, DefaultBatchingWindow, TrimHorizon}},
		"Queue":   {queue, key{0, 10, 0, ""}},
		"Ordered": {ordered, key{-1, 10, DefaultBatchingWindow, TrimHorizon}},
	} {
		if got := (key{c.m.MaximumRetryAttempts, c.m.PollerConcurrency, c.m.BatchingWindow, c.m.StartingPosition}); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
	if queue.Queue.Protocol != QueueShare || ordered.Ordered.MessageGroup != "key" || ordered.Ordered.MaximumInFlight != DefaultMaximumInFlight || !ordered.Ordered.Fairness {
		t.Errorf("got %+v and %+v", queue.Queue, ordered.Ordered)
	}
	if (stream.Queue != QueueFields{}) || (stream.Ordered != OrderedFields{}) {
		t.Errorf("Stream has fields of other modes: %+v %+v", stream.Queue, stream.Ordered)
	}
}

func TestRetriesWithADestinationEndAtTen(t *testing.T) {
	const dlq = `"destinationConfig":{"onFailure":{"destination":"kafka://dlq"}}`
	cases := map[string]int{
		dlq:                                RetriesWithDestination,
		dlq + `,"maximumRetryAttempts":-1`: RetriesWithDestination, // AWS: infinite retries with a destination stop after 10
		dlq + `,"maximumRetryAttempts":3`:  3,
		dlq + `,"maximumRetryAttempts":50`: 50,
		`"maximumRetryAttempts":-1`:        InfiniteRetries,
		`"consumptionMode":"Queue",` + dlq: 0,
		`"consumptionMode":"Queue","maximumRetryAttempts":-1,` + dlq: InfiniteRetries,
		`"destinationConfig":{"onFailure":{"destination":""}}`:       InfiniteRetries,
		`"destinationConfig":{"onFailure":{}}`:                       InfiniteRetries,
	}
	for members, want := range cases {
		if got := parse(t, members).MaximumRetryAttempts; got != want {
			t.Errorf("%s: got %d, want %d", members, got, want)
		}
	}
}

func TestOnDemandAndProvisioned(t *testing.T) {
	type bounds struct {
		provisioned bool
		min, max    int
		throughput  int64
	}
	cases := map[string]bounds{
		`"enabled":true`:                                   {false, 1, 5, 1_000_000},
		`"provisionedPollerConfig":{}`:                     {false, 1, 5, 1_000_000}, // AWS: {} is on-demand
		`"provisionedPollerConfig":{"minimumPollers":5}`:   {true, 5, 200, 5_000_000},
		`"provisionedPollerConfig":{"maximumPollers":7}`:   {true, 1, 7, 5_000_000},
		`"provisionedPollerConfig":{"pollerGroupName":""}`: {true, 1, 200, 5_000_000},
		`"pollerLimits":{"throughput":"unlimited"}`:        {false, 1, 5, 0},
		`"pollerLimits":{"throughput":"1.5 MB/s"}`:         {false, 1, 5, 1_500_000},
	}
	for members, want := range cases {
		m := parse(t, members)
		if got := (bounds{m.Provisioned, m.MinimumPollers, m.MaximumPollers, m.PollerThroughput}); got != want {
			t.Errorf("%s: got %+v, want %+v", members, got, want)
		}
	}
}

func TestWhatComesLaterIsReadToo(t *testing.T) {
	on := true
	got := parse(t, `"consumptionMode":"Ordered","messageGroup":"header:customer","onExhausted":"divert","deduplication":"content",
		"deduplicationInterval":"1m","maximumInFlight":9,"fairness":"off","strict":"on","filterMismatch":"drop","kmsKeyArn":"arn:aws:kms:x",
		"filterCriteria":{"filters":[{"pattern":{"value":{"a":[1.50,null,"<"]}}},{"pattern":"{\"key\":[1]}"}]},"payload":"cloudevents",
		"destinationConfig":{"onFailure":{"destination":"s3://dead-letters"}},"loggingConfig":{"systemLogLevel":"DEBUG"},"tags":{"a":"b"},
		"schedules":[{"cron":"0 8 * * *","minimumPollers":5,"maximumPollers":6,"enabled":true},{"cron":"@daily"}],
		"provisionedPollerConfig":{"pollerGroupName":"shop"},
		"schemaRegistryConfig":{"schemaRegistryURI":"https://r","eventRecordFormat":"SOURCE","accessConfigs":[{"type":"BASIC_AUTH","uri":"arn:aws:secretsmanager:x"}],
			"schemaValidationConfigs":[{"attribute":"KEY"},{"attribute":"VALUE"}]}`)
	want := New("orders", "f", "main", "orders")
	want.ConsumptionMode = Ordered
	want.PollerConcurrency = QueueConcurrency
	want.Ordered = OrderedFields{
		MessageGroup: "header:customer", OnExhausted: ExhaustedDivert, Deduplication: "content", DeduplicationInterval: time.Minute,
		MaximumInFlight: 9, Strict: true,
	}
	want.Filters = []string{`{"value":{"a":[1.50,null,"<"]}}`, `{"key":[1]}`}
	want.FilterMismatch, want.KMSKeyARN, want.Payload = FilterMismatchDrop, "arn:aws:kms:x", PayloadCloudEvents
	want.OnFailure = Destination{URI: "s3://dead-letters", Format: FormatRecord}
	want.MaximumRetryAttempts = RetriesWithDestination
	want.LogLevel, want.Tags = LogDebug, map[string]string{"a": "b"}
	want.Schedules = []Schedule{{Cron: "0 8 * * *", MinimumPollers: 5, MaximumPollers: 6, Enabled: &on}, {Cron: "@daily"}}
	want.Provisioned, want.MaximumPollers, want.PollerThroughput, want.PollerGroupName = true, 200, ProvisionedThroughput, "shop"
	want.SchemaRegistry = &SchemaRegistry{
		URI: "https://r", EventRecordFormat: "SOURCE", ValidateKey: true, ValidateValue: true,
		AccessConfigs: []SchemaRegistryAccess{{Type: "BASIC_AUTH", URI: "arn:aws:secretsmanager:x"}},
	}
	if !got.Equal(&want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	queue := parse(t, `"consumptionMode":"Queue","queueProtocol":"window","shareAutoOffsetReset":"by_duration:PT1H","shareRecordLocks":100`)
	if want := (QueueFields{QueueWindow, "by_duration:PT1H", 100}); queue.Queue != want {
		t.Errorf("got %+v, want %+v", queue.Queue, want)
	}
}

// TestRules has one case for each rule that stands behind something not yet supported; the others are config's bad files.
func TestRules(t *testing.T) {
	cases := []struct{ name, members, want string }{
		{"AWS, Queue mode: the batching window is refused, even 0", `"consumptionMode":"Queue","maximumBatchingWindowInSeconds":0`, "m.maximumBatchingWindowInSeconds: is not for consumptionMode Queue"},
		{"AWS, Queue mode: the starting position is refused", `"consumptionMode":"Queue","startingPosition":"LATEST"`, "m.startingPosition: is not for consumptionMode Queue"},
		{"AWS, Queue mode: the timestamp is refused", `"consumptionMode":"Queue","startingPositionTimestamp":5`, "m.startingPositionTimestamp: is not for consumptionMode Queue"},
		{"Ordered's fields are not Queue's", `"consumptionMode":"Queue","messageGroup":"key"`, "m.messageGroup: is for consumptionMode Ordered alone"},
		{"Queue's fields are not Ordered's", `"consumptionMode":"Ordered","shareRecordLocks":100`, "m.shareRecordLocks: is for consumptionMode Queue alone"},
		{"a retry topic is Stream's", `"consumptionMode":"Ordered","retryMode":"topic"`, "m.retryMode: is for consumptionMode Stream alone"},
		{"diverting needs a target", `"consumptionMode":"Ordered","onExhausted":"divert"`, "m.onExhausted: divert needs destinationConfig.onFailure.destination"},
		{"a raw payload has one record", `"payload":"raw"`, "m.batchSize: 100 is not allowed with payload raw; allowed: 1"},
		{"a pattern is an object", `"filterCriteria":{"filters":[{"pattern":"[]"}]}`, "m.filterCriteria.filters[0].pattern: $, column 1 of its JSON: a list is no pattern; allowed: an object of fields"},
		{"a pattern is not null", `"filterCriteria":{"filters":[{"pattern":"null"}]}`, "m.filterCriteria.filters[0].pattern: $, column 1 of its JSON: null is no pattern; allowed: an object of fields"},
		{"a pattern is no number", `"filterCriteria":{"filters":[{"pattern":5}]}`, "m.filterCriteria.filters[0].pattern: 5 is not a pattern; allowed: an object, or its JSON in a string"},
		{"a pattern is bounded", `"filterCriteria":{"filters":[{"pattern":"{\"` + strings.Repeat("a", filter.PatternCharsMax) + `\":[]}"}]}`, "m.filterCriteria.filters[0].pattern: the pattern has 4103 characters; allowed: up to 4096"},
		{"a pattern compiles", `"filterCriteria":{"filters":[{"pattern":{"value":{"a":["x"]}}},{"pattern":{"value":{"a":[{"between":1}]}}}]}`, `m.filterCriteria.filters[1].pattern: $.value.a[0].between, column 17 of its JSON: "between" is no operator; allowed: prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, exists, cidr, exactly`},
		{"Glue has no access configs", `"schemaRegistryConfig":{"schemaRegistryURI":"arn:aws:glue:x","eventRecordFormat":"JSON","accessConfigs":[{"type":"BASIC_AUTH","uri":"arn:aws:secretsmanager:x"}],"schemaValidationConfigs":[{"attribute":"KEY"}]}`, "m.schemaRegistryConfig.accessConfigs: an AWS Glue registry has no accessConfigs"},
		{"an attribute is validated once", `"schemaRegistryConfig":{"schemaRegistryURI":"http://r","eventRecordFormat":"JSON","schemaValidationConfigs":[{"attribute":"KEY"},{"attribute":"KEY"}]}`, `m.schemaRegistryConfig.schemaValidationConfigs: "KEY" is there twice`},
		{"a share group's start is a duration", `"consumptionMode":"Queue","shareAutoOffsetReset":"by_duration:PT"`, "has no ISO 8601 duration"},
		{"a message group is one of three", `"consumptionMode":"Ordered","messageGroup":"value"`, "m.messageGroup: \"value\" is not key, header:NAME or value:/json/pointer"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			problems := Check(node(t, c.members), "m", later)
			if len(problems) != 1 || !strings.Contains(problems[0].String(), c.want) {
				t.Errorf("got %v, want %q", problems, c.want)
			}
		})
	}
}

func TestTopicsAreReadByNameOrExpression(t *testing.T) {
	names, expression := New("m", "f", "c", "a", "b"), New("m", "f", "c", "~^a.*$")
	if re, ok := names.TopicRegex(); ok || re != "" {
		t.Errorf("names are no expression: got %q", re)
	}
	if re, ok := expression.TopicRegex(); !ok || re != "^a.*$" {
		t.Errorf("got %q, %v", re, ok)
	}
	if !names.Reads("b") || names.Reads("ab") || !expression.Reads("ab") || expression.Reads("b") {
		t.Error("Reads says otherwise than the topics")
	}
}

// TestTheTableIsWhole asks what every field must have, so that the documentation has no holes.
func TestTheTableIsWhole(t *testing.T) {
	var walk func(path string, fields []field.Field)
	seen := map[string]bool{}
	walk = func(path string, fields []field.Field) {
		for _, f := range fields {
			at := path + f.Name
			if seen[at] {
				t.Errorf("%s is there twice", at)
			}
			seen[at] = true
			if f.Never == "" && (f.Doc == "" || !strings.HasSuffix(f.Doc, ".")) {
				t.Errorf("%s has no documentation in sentences: %q", at, f.Doc)
			}
			if f.Type.Pattern != nil && f.Type.Looks == "" || f.Type.Check != nil && f.Type.Beyond == "" {
				t.Errorf("%s has a pattern or a check, and no words for it", at)
			}
			walk(at+".", f.Type.Fields)
			if f.Type.Elem != nil {
				walk(at+"[].", f.Type.Elem.Fields)
			}
		}
	}
	walk("", Type().Fields)
	for _, r := range Type().Rules {
		if r.Doc == "" || (r.Schema == nil) == (r.Beyond == "") {
			t.Errorf("rule %q: wants documentation, and a schema or the reason why there is none", r.Doc)
		}
	}
	// Members of CreateEventSourceMapping and its responses (AWS Lambda API Reference), all of them known to the table.
	for _, member := range strings.Fields(`functionName eventSourceArn selfManagedEventSource topics enabled batchSize
		maximumBatchingWindowInSeconds startingPosition startingPositionTimestamp filterCriteria kmsKeyArn filterCriteriaError metricsConfig
		loggingConfig destinationConfig maximumRecordAgeInSeconds maximumRetryAttempts bisectBatchOnFunctionError functionResponseTypes
		sourceAccessConfigurations provisionedPollerConfig selfManagedKafkaEventSourceConfig amazonManagedKafkaEventSourceConfig tags queues
		parallelizationFactor tumblingWindowInSeconds scalingConfig documentDBEventSourceConfig uuid functionArn eventSourceMappingArn state
		stateTransitionReason lastModified lastProcessingResult consumptionMode consumerGroupId schemaRegistryConfig`) {
		if !seen[member] {
			t.Errorf("AWS's %s is unknown", member)
		}
	}
}

func TestEqualLooksAtEveryField(t *testing.T) {
	a := New("orders", "f", "main", "orders")
	b := a
	b.Topics = slices.Clone(a.Topics)
	if !a.Equal(&b) {
		t.Error("a copy is not equal")
	}
	for i := range reflect.TypeFor[Mapping]().NumField() {
		c := a
		v := reflect.ValueOf(&c).Elem().Field(i)
		if other := reflect.New(v.Type()).Elem(); !v.IsZero() {
			v.Set(other)
			if a.Equal(&c) {
				t.Errorf("%s may differ", reflect.TypeFor[Mapping]().Field(i).Name)
			}
		}
	}
}
