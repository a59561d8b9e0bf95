package mapping

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/mapping/field"
)

// rules are what must hold between the fields of one mapping. What must hold between mappings, and between a mapping and
// the clusters and functions, config checks.
var rules = []field.Rule{
	{
		Doc:   "`minimumPollers` is not above `maximumPollers`; where `maximumPollers` is missing, that is 200.",
		Paths: []string{"provisionedPollerConfig"}, Check: pollersInOrder,
		Beyond: "JSON Schema cannot compare two values",
	},
	{
		Doc:   "`startingPositionTimestamp` does not lie in the future.",
		Paths: []string{"startingPosition", "startingPositionTimestamp"}, Check: notInTheFuture,
		Beyond: "JSON Schema has no clock",
	},
	{
		Doc:   "`topics` holds names, or exactly one `~regex`.",
		Paths: []string{"topics"}, Check: oneExpression,
		Schema: map[string]any{
			"if":   map[string]any{"properties": map[string]any{"topics": map[string]any{"contains": map[string]any{"type": "string", "pattern": "^~"}}}, "required": []any{"topics"}},
			"then": map[string]any{"properties": map[string]any{"topics": map[string]any{"maxItems": 1}}},
		},
	},
	{
		Doc:   "The destination is not a topic that the mapping reads.",
		Paths: []string{"topics", "cluster", destinationPath}, Check: destinationIsNoSource,
		Beyond: "JSON Schema cannot compare two values",
	},
	{
		Doc:   "`retry.initialBackoff` is not above `retry.maximumBackoff`.",
		Paths: []string{"retry"}, Check: backoffInOrder,
		Beyond: "JSON Schema cannot compare two values",
	},
	{
		Doc:   "`payload: raw` needs `batchSize: 1`.",
		Paths: []string{"payload", "batchSize"}, Check: rawIsAlone,
		Schema: map[string]any{
			"if":   map[string]any{"properties": map[string]any{"payload": map[string]any{"const": string(PayloadRaw)}}, "required": []any{"payload"}},
			"then": map[string]any{"properties": map[string]any{"batchSize": map[string]any{"anyOf": []any{map[string]any{"const": 1}, map[string]any{"type": "string"}}}}, "required": []any{"batchSize"}},
		},
	},
	{
		Doc:   "`onExhausted: divert` needs a destination.",
		Paths: []string{"onExhausted", destinationPath}, Check: divertHasTarget,
		Beyond: "Ordered mode, which has the field, is not yet supported",
	},
	{
		Doc:   "Each pattern of `filterCriteria` compiles; the language is in [FILTERS.md](FILTERS.md).",
		Paths: []string{"filterCriteria"}, Check: patternsCompile,
		Beyond: "JSON Schema knows no patterns of events",
	},
	{
		Doc:   "An AWS Glue registry has no `accessConfigs`, and no attribute is validated twice.",
		Paths: []string{"schemaRegistryConfig"}, Check: registryFitsTogether,
		Beyond: "schema registries are not yet supported",
	},
}

func one(path, hint, format string, args ...any) []field.Violation {
	return []field.Violation{{Path: path, Hint: hint, Message: fmt.Sprintf(format, args...)}}
}

func pollersInOrder(m *field.Node, _ field.Context) []field.Violation {
	const lowest, highest = "provisionedPollerConfig.minimumPollers", "provisionedPollerConfig.maximumPollers"
	if m.At(lowest) == nil {
		return nil
	}
	a, b := field.Read[int64](&fields, m, lowest), field.Read[int64](&fields, m, highest)
	if a <= b {
		return nil
	}
	return one(lowest, "", "%s is above maximumPollers; allowed: up to %s", m.At(lowest).Shown(), shownOr(m.At(highest), fmt.Sprint(b)))
}

// shownOr returns n as an error may show it, without quotes, or the default where it is missing.
func shownOr(n *field.Node, absent string) string {
	if n == nil {
		return absent
	}
	return strings.Trim(n.Shown(), `"`)
}

func notInTheFuture(m *field.Node, c field.Context) []field.Violation {
	const path = "startingPositionTimestamp"
	n := m.At(path)
	if n == nil || !field.Read[time.Time](&fields, m, path).After(c.Now) {
		return nil
	}
	return one(path, "", "%s lies in the future; allowed: up to now, %s", n.Shown(), c.Now.UTC().Format(time.RFC3339))
}

func oneExpression(m *field.Node, _ field.Context) []field.Violation {
	topics := m.At("topics")
	if topics == nil || len(topics.Items) < 2 {
		return nil
	}
	for i, item := range topics.Items {
		if strings.HasPrefix(item.Text, "~") {
			return one(fmt.Sprintf("topics[%d]", i), "join them into one expression", "%s is not alone; allowed: names, or exactly one ~regex", item.Shown())
		}
	}
	return nil
}

func destinationIsNoSource(m *field.Node, _ field.Context) []field.Violation {
	n, topics := m.At(destinationPath), m.At("topics")
	if n == nil || n.Text == "" || topics == nil {
		return nil
	}
	to, err := ParseDestinationURI(n.Text)
	own := m.At("cluster")
	if err != nil || to.Kind != DestinationTopic || to.Cluster != "" && (own == nil || own.Text != string(to.Cluster)) {
		return nil
	}
	if !readsTopic(field.Strings(m, "topics"), to.Topic) {
		return nil
	}
	return one(destinationPath, "", "%s is a topic that the mapping reads, so a dead letter would come again; allowed: another topic", n.Shown())
}

func backoffInOrder(m *field.Node, _ field.Context) []field.Violation {
	const first, last = "retry.initialBackoff", "retry.maximumBackoff"
	a, b := field.Read[time.Duration](&fields, m, first), field.Read[time.Duration](&fields, m, last)
	if a <= b {
		return nil
	}
	if m.At(first) == nil {
		return one(last, "", "%s is below initialBackoff; allowed: from %s", m.At(last).Shown(), field.FormatDuration(a))
	}
	return one(first, "", "%s is above maximumBackoff; allowed: up to %s", m.At(first).Shown(), shownOr(m.At(last), field.FormatDuration(b)))
}

func rawIsAlone(m *field.Node, _ field.Context) []field.Violation {
	size := field.Read[int64](&fields, m, "batchSize")
	if n := m.At("payload"); n == nil || n.Text != string(PayloadRaw) || size == 1 {
		return nil
	}
	return one("batchSize", "", "%s is not allowed with payload raw; allowed: 1", shownOr(m.At("batchSize"), fmt.Sprint(size)))
}

func divertHasTarget(m *field.Node, _ field.Context) []field.Violation {
	if !field.Is("onExhausted", string(ExhaustedDivert)).Holds(m) || field.Has(destinationPath).Holds(m) {
		return nil
	}
	return one("onExhausted", "", "divert needs destinationConfig.onFailure.destination")
}

func registryFitsTogether(m *field.Node, _ field.Context) []field.Violation {
	n := m.At("schemaRegistryConfig")
	if n == nil || len(n.Members) == 0 {
		return nil
	}
	var found []field.Violation
	if strings.HasPrefix(n.At("schemaRegistryURI").Text, "arn:") && field.Has("accessConfigs").Holds(n) {
		found = append(found, field.Violation{Path: "schemaRegistryConfig.accessConfigs", Message: "an AWS Glue registry has no accessConfigs"})
	}
	list := n.At("schemaValidationConfigs").Items
	if len(list) == 2 && list[0].At("attribute").Text == list[1].At("attribute").Text {
		found = append(found, field.Violation{Path: "schemaRegistryConfig.schemaValidationConfigs", Message: list[0].At("attribute").Shown() + " is there twice"})
	}
	return found
}
