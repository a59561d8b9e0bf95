package mapping

import (
	"fmt"
	"regexp"
	"strings"
)

// TopicNameMax is the longest topic name, in characters (Apache Kafka, Topic.validate).
const TopicNameMax = 249

var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

// WrongTopicName says why name cannot be a Kafka topic (Apache Kafka, org.apache.kafka.common.internals.Topic.validate:
// 1 to 249 letters, digits, dots, underscores and hyphens, but not "." or ".."), or "" if it can.
func WrongTopicName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > TopicNameMax:
		return fmt.Sprintf("is longer than %d characters", TopicNameMax)
	case name == "." || name == "..":
		return `is "." or "..", which Kafka refuses`
	case !topicName.MatchString(name):
		return "holds a character that Kafka refuses; allowed: letters, digits, '.', '_' and '-'"
	}
	return ""
}

// TopicExpressionMax is the longest regular expression that selects topics, in characters.
const TopicExpressionMax = 1000

// wrongTopic says why text cannot be an element of topics: a topic's name, or "~" and a regular expression.
func wrongTopic(text string) string {
	expr, ok := strings.CutPrefix(text, "~")
	if !ok {
		return WrongTopicName(text)
	}
	if expr == "" {
		return "has no expression behind the ~"
	}
	if len(expr) > TopicExpressionMax {
		return fmt.Sprintf("is longer than %d characters", TopicExpressionMax)
	}
	if _, err := regexp.Compile(expr); err != nil {
		return "is not a regular expression (RE2): " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	return ""
}

// readsTopic says whether an element of topics selects topic.
func readsTopic(topics []string, topic string) bool {
	for _, t := range topics {
		expr, isExpression := strings.CutPrefix(t, "~")
		if !isExpression && t == topic {
			return true
		}
		if isExpression {
			if re, err := regexp.Compile(expr); err == nil && re.MatchString(topic) {
				return true
			}
		}
	}
	return false
}

// Reads says whether the mapping reads topic: by name, or because its expression matches (anywhere in the name, RE2).
func (m *Mapping) Reads(topic string) bool { return readsTopic(m.Topics, topic) }
