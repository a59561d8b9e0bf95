package topic

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

var update = flag.Bool("update", false, "rewrite the golden documents")

// TestDocuments compares failure records with testdata. The first, «exhausted», is the example that Lambda's guide
// gives for a Kafka topic; the others differ as the guide says they do.
func TestDocuments(t *testing.T) {
	lambdas := record.Failure{Kind: "FunctionError", Status: 200, RequestID: "316aa6d0-8154-4c9a-9d7d-1c2f6b8a4e51"}
	for name, c := range map[string]struct {
		source invoke.Source
		edit   func(*record.Run)
		bare   bool
	}{
		"exhausted": {edit: func(run *record.Run) {
			run.Retry = &record.Retry{Invocations: 1, Attempts: 1, GiveUp: record.RetryAttemptsExhausted, Last: lambdas}
		}},
		"http-status": {edit: func(run *record.Run) { run.Retry.Last.Status = 502 }},
		"timeout": {edit: func(run *record.Run) {
			run.Retry.Last = record.Failure{Kind: "Timeout", RequestID: "316aa6d0"}
		}},
		"partial": {edit: func(run *record.Run) {
			run.Retry.Last = record.Failure{Kind: "BatchItemFailure", Status: 200, Partial: true, RequestID: "316aa6d0"}
		}},
		"too-large-to-invoke": {edit: func(run *record.Run) {
			run.Retry = &record.Retry{
				GiveUp: record.MaximumPayloadSizeExceeded, Invocations: 1, Last: record.Failure{Kind: "TooLarge", Status: 413},
			}
		}},
		"too-old-never-invoked": {edit: func(run *record.Run) {
			run.Retry = &record.Retry{GiveUp: record.RecordAgeExceeded}
		}},
		"too-old-never-reached": {edit: func(run *record.Run) {
			run.Retry = &record.Retry{GiveUp: record.RecordAgeExceeded, Invocations: 3, Last: record.Failure{Kind: "Unreachable"}}
		}},
		"too-old-throttled": {edit: func(run *record.Run) {
			run.Retry = &record.Retry{GiveUp: record.RecordAgeExceeded, Invocations: 3, Last: record.Failure{Kind: "Throttled", Status: 429}}
		}},
		"too-old-after-attempts": {edit: func(run *record.Run) { run.Retry.GiveUp = record.RecordAgeExceeded }},
		"without-payload":        {bare: true},
		"msk": {source: invoke.Source{
			EventSource:      invoke.MSK,
			EventSourceARN:   "arn:aws:kafka:us-west-2:111122223333:cluster/demo/0a1b2c3d-1111-2222-3333-444455556666-7",
			BootstrapServers: []string{"b-1.demo.example.com:9092", "b-2.demo.example.com:9092"},
		}},
		"null-key-and-html": {edit: func(run *record.Run) {
			run.Records[0].Key = nil
			run.Records[0].Headers = []kgo.RecordHeader{{Key: "<b>&", Value: []byte{0xE9}}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if len(c.source.BootstrapServers) == 0 {
				c.source.BootstrapServers = []string{"broker1.example.com:9092"}
			}
			w := newWorld(t)
			topic := w.topic(func(config *Config) { config.Format, config.Source = FormatAWS, c.source })
			run := failedRun(`{"orderId":"order-17","status":"NEW","total":42}`)
			run.Partition = 0
			r := run.Records[0]
			r.Partition, r.Offset, r.Key = 0, 15, []byte("order-17")
			if c.edit != nil {
				c.edit(&run)
			}
			compare(t, name, topic.document(run, 0, !c.bare))
		})
	}
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, got, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	pretty.WriteByte('\n')
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pretty.Bytes(), want) {
		t.Errorf("%s says otherwise:\n%s", file, pretty.Bytes())
	}
}

// What arrives on the topic is the document, under the record's key, with nothing but the path beside it.
func TestADocumentTravelsUnderTheRecordsKey(t *testing.T) {
	w := newWorld(t)
	w.create("dlq", 1, nil)
	topic := w.topic(func(c *Config) { c.Format, c.SourceClusterID = FormatAWS, "there" })
	run := failedRun("a", "b")
	run.Records[1].Key = nil
	if _, err := topic.Deliver(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	got := w.read("dlq", 2)
	if string(got[0].Key) != "key-0" || got[1].Key != nil {
		t.Errorf("keys %q, %q", got[0].Key, got[1].Key)
	}
	for i, r := range got {
		if !bytes.Equal(r.Value, topic.document(run, i, true)) {
			t.Errorf("record %d: %s", i, r.Value)
		}
		if headersOf(r) != "sluice-path: there/orders\n" {
			t.Errorf("headers %s", headersOf(r))
		}
	}
}
