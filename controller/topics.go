package controller

import (
	"fmt"
	"strings"
)

// topicProblem says which topics are not read, and why; empty if all are.
func (r *runner) topicProblem() string {
	if r.adapters == nil {
		return ""
	}
	var texts []string
	switch absent := r.adapters.Feed.Absent(); len(absent) {
	case 0:
	case 1:
		texts = append(texts, fmt.Sprintf("topic %s does not exist; waiting for it", absent[0]))
	default:
		texts = append(texts, fmt.Sprintf("topics %s do not exist; waiting for them", strings.Join(absent, ", ")))
	}
	if stopped := r.adapters.Feed.Stopped(); len(stopped) > 0 {
		what := "topic " + stopped[0] + " was"
		if len(stopped) > 1 {
			what = "topics " + strings.Join(stopped, ", ") + " were"
		}
		texts = append(texts, what+" deleted and created anew, and onTopicRecreated is stop: not read until that is startAtBeginning")
	}
	return strings.Join(texts, "; ")
}
