package topic

import (
	"os"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/record"
)

// docs/FUNCTIONS.md names every header of a dead letter, and every condition.
func TestThePageNamesEveryHeader(t *testing.T) {
	text, err := os.ReadFile("../../../docs/FUNCTIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Dead letters\n")
	for _, name := range []string{
		HeaderMapping, HeaderTopic, HeaderPartition, HeaderOffset, HeaderTimestamp, HeaderCondition, HeaderAttempts,
		HeaderInvocations, HeaderErrorKind, HeaderErrorStatus, HeaderErrorType, HeaderErrorText, HeaderRequestID, HeaderPath,
		string(record.RetryAttemptsExhausted), string(record.RecordAgeExceeded), string(record.MaximumPayloadSizeExceeded),
	} {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("the section on dead letters does not name %s", name)
		}
	}
}
