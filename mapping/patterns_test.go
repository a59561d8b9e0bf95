package mapping

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/filter"
	"github.com/sluicehq/sluice/mapping/field"
)

// What came from the environment or a file is in no message, be it the pattern or something in it.
func TestPatternsFromOutsideAreNotShown(t *testing.T) {
	const secret = "hunter2"
	inside := &field.Node{Kind: field.Dictionary, Members: []field.Member{{Key: "value", Value: &field.Node{
		Kind: field.Dictionary, Members: []field.Member{{Key: "a", Value: &field.Node{Kind: field.Text, Text: secret, Reference: "${SECRET}"}}},
	}}}}
	whole := &field.Node{Kind: field.Text, Text: `{"value":{"a":[{"` + secret + `":1}]}}`, Reference: "${PATTERN}"}
	for _, pattern := range []*field.Node{inside, whole} {
		m := &field.Node{Kind: field.Dictionary, Members: []field.Member{{Key: "filterCriteria", Value: &field.Node{
			Kind: field.Dictionary, Members: []field.Member{{Key: "filters", Value: &field.Node{Kind: field.Sequence, Items: []*field.Node{
				{Kind: field.Dictionary, Members: []field.Member{{Key: "pattern", Value: pattern}}},
			}}}},
		}}}}
		found := wrongPatterns(m, filter.Rules{})
		if len(found) != 1 || strings.Contains(found[0].Message, secret) || !strings.Contains(found[0].Message, "comes from outside the file") {
			t.Errorf("%+v", found)
		}
	}
}
