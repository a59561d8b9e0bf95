package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/controller"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
)

func TestMain(m *testing.M) { kafkatest.Main(m) }

// one is a case of the suite.
type one struct {
	name string
	run  func(t *testing.T, c *kafkatest.Cluster)
}

// core is what above all must hold on every version of Kafka.
var core = []one{
	{"every record reaches the function in order", everyRecord},
	{"failures of every kind cost attempts and lose nothing", everyFailure},
	{"a poison record ends on the dead-letter topic", poison},
	{"a restart delivers nothing again", restart},
	{"transactions end at lag 0", transactions},
	{"topics by expression", expression},
	{"a topic that is created anew is read from its beginning", recreated},
}

// whole is what holds on every Kafka.
var whole = append(core[:len(core):len(core)], []one{
	{"a run until lag zero ends 0", untilLagZero},
	{"what waits spends no attempt", throttled},
	{"dead letters as AWS writes them", poisonAWS},
	{"named records come again alone", itemFailures},
	{"a batch that is too large is split", split},
	{"SIGTERM lets calls end, a second one does not wait", drain},
	{"a destination that the mapping reads is refused", sourceIsDestination},
	{"a stuck partition is explained", stuck},
	{"a topic that is created anew may stop its mapping", recreatedStops},
	{"a topic that is deleted holds up no other", deletedTopic},
	{"a topic that grows is read at once", grownTopic},
	{"a topic that comes after its mapping is read", lateTopic},
	{"records that are deleted unread are counted", overtaken},
}...)

func suite(t *testing.T, cases []one, cluster func(t *testing.T) *kafkatest.Cluster) {
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, cluster(t)) })
	}
}

func TestSuiteOnKfake(t *testing.T) {
	suite(t, whole, func(t *testing.T) *kafkatest.Cluster { return kafkatest.Fake(t, kafkatest.Options{}) })
}

func everyRecord(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 6, function.Script{})
	r.produce(6, 6000)
	p := start(t, r.yaml("batchSize: 50"))
	r.settled(30 * time.Second)
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	report := r.judge()
	if report.Taken != 6000 || report.Duplicates != 0 {
		t.Errorf("%d taken, %d twice", report.Taken, report.Duplicates)
	}
	for _, a := range r.function.Attempts() {
		if a.Records() > 50 {
			t.Errorf("a batch of %d, the limit is 50", a.Records())
		}
	}
}

func untilLagZero(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 3, function.Script{})
	r.produce(3, 500)
	p := start(t, r.yaml(), "--until-lag-zero")
	if code := p.wait(30 * time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if report := r.judge(); report.Taken != 500 {
		t.Errorf("%d taken", report.Taken)
	}
}

func everyFailure(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 6, function.Script{Seed: 1, Rules: []function.Rule{
		{Action: function.Fail, Share: 0.05},
		{Action: function.FunctionError, Share: 0.03},
		{Action: function.Fail, Status: 400, Share: 0.02},
		{Action: function.Fail, Status: 502, Share: 0.02},
		{Action: function.Reset, Share: 0.02},
		{Action: function.Hang, Times: 2},
		{Action: function.Huge, Times: 2},
		{Action: function.Drip, Times: 1, Delay: 100 * time.Millisecond, Bytes: 1000},
	}})
	r.produce(6, 6000)
	yaml := strings.Replace(r.yaml("batchSize: 20", quick), "timeout: 5s", "timeout: 1s", 1)
	p := start(t, yaml)
	r.settled(60 * time.Second)
	p.stop()
	r.judge()
}

// Product contract, «Functions»: 429, 503 and a refused connection spend no attempt; here there is not even one.
func throttled(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 2, function.Script{Rules: []function.Rule{
		{Action: function.Fail, Status: 429, RetryAfter: time.Second, Times: 3},
		{Action: function.Fail, Status: 503, Times: 5},
	}})
	url := r.function.URL()
	r.produce(2, 100)
	yaml := r.yaml("maximumRetryAttempts: 0", quick, r.withDLQ())
	_ = r.function.Close() // refused connections
	p := start(t, yaml)
	p.until("the function is found to be down", 20*time.Second, func() bool {
		return strings.Contains(p.status().LastProcessingResult, "PROBLEM")
	})
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	fn, err := function.Start(function.Config{Listen: address, Ledger: r.ledger, Script: function.Script{Rules: []function.Rule{
		{Action: function.Fail, Status: 429, RetryAfter: time.Second, Times: 3},
		{Action: function.Fail, Status: 503, Times: 5},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer fn.Close()
	r.settled(60 * time.Second)
	p.stop()
	if n := len(r.letters()); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	if report := r.judge(); report.Taken != 100 {
		t.Errorf("%d taken", report.Taken)
	}
}

func poison(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 3, function.Script{Rules: []function.Rule{{Action: function.Fail, Contains: poisonMark}}})
	r.produce(3, 300, 40, 41, 42)
	p := start(t, r.yaml("batchSize: 25", "maximumRetryAttempts: 2", "bisectBatchOnFunctionError: true", quick, r.withDLQ()))
	r.settled(60 * time.Second)
	p.stop()
	letters := r.letters()
	if len(letters) != 3 {
		t.Fatalf("%d dead letters, want 3", len(letters))
	}
	for _, l := range letters {
		h := headers(l)
		if !strings.Contains(string(l.Value), poisonMark) || h["n"] == "" || h["sluice-topic"] != r.topic {
			t.Errorf("a dead letter that is not the record: %q, %v", l.Value, h)
		}
	}
	report := r.judge()
	if report.DeadLettered != 3 || report.Taken != 297 {
		t.Errorf("%d dead-lettered, %d taken", report.DeadLettered, report.Taken)
	}
}

func poisonAWS(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{Rules: []function.Rule{{Action: function.Fail, Contains: poisonMark}}})
	r.produce(1, 10, 4)
	p := start(t, r.yaml("batchSize: 1", "maximumRetryAttempts: 1", quick,
		fmt.Sprintf("destinationConfig: {onFailure: {destination: 'kafka://%s', format: aws}}", r.dlq)))
	r.settled(60 * time.Second)
	p.stop()
	letters := c.Records(r.dlq)
	if len(letters) != 1 {
		t.Fatalf("%d dead letters", len(letters))
	}
	var doc struct {
		RequestContext struct {
			Condition              string
			ApproximateInvokeCount int
		}
		ResponseContext struct{ StatusCode int }
		KafkaBatchInfo  struct {
			BatchSize  int
			RecordInfo struct{ Offset string }
		}
		Payload struct {
			Records map[string][]struct{ Offset int }
		}
	}
	if err := json.Unmarshal(letters[0].Value, &doc); err != nil {
		t.Fatalf("%v: %s", err, letters[0].Value)
	}
	if doc.RequestContext.Condition != "RetriesExhausted" || doc.RequestContext.ApproximateInvokeCount != 2 ||
		doc.KafkaBatchInfo.RecordInfo.Offset != "4" || doc.Payload.Records[r.topic+"-0"][0].Offset != 4 || string(letters[0].Key) != "4" {
		t.Errorf("dead letter: %s", letters[0].Value)
	}
}

func itemFailures(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 2, function.Script{Rules: []function.Rule{{Action: function.ItemFailures, Contains: poisonMark}}})
	r.produce(2, 100, 10, 11, 50)
	p := start(t, r.yaml("functionResponseTypes: [ReportBatchItemFailures]", "maximumRetryAttempts: 2", quick, r.withDLQ()))
	r.settled(60 * time.Second)
	p.stop()
	if n := len(r.letters()); n != 3 {
		t.Errorf("%d dead letters, want 3", n)
	}
	// Order: AWS repeats only the named records, behind those that were taken with them.
	report := r.ledger.Report()
	if report.Lost != 0 || report.Duplicates != 0 || report.Taken != 97 {
		t.Errorf("lost %d, twice %d, taken %d", report.Lost, report.Duplicates, report.Taken)
	}
	for _, a := range r.function.Attempts() {
		if a.Number > 1 && a.Records() > 2 {
			t.Errorf("attempt %d carried %d records; 2 were named at most", a.Number, a.Records())
		}
	}
}

// Fault 80.
func split(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{BodyMax: 10_000})
	r.produce(1, 400)
	p := start(t, r.yaml("batchSize: 200", "maximumRetryAttempts: 0", r.withDLQ()))
	r.settled(60 * time.Second)
	p.stop()
	if n := len(r.letters()); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	r.judge()
}

func restart(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 3, function.Script{})
	r.produce(3, 300)
	for i := range 3 {
		p := start(t, r.yaml(fast))
		r.settled(30 * time.Second)
		p.stop()
		if n := r.ledger.Report().Taken; n != 300 {
			t.Fatalf("%d taken after run %d", n, i+1)
		}
	}
	if report := r.judge(); report.Redelivered != 0 {
		t.Errorf("%d records were handed over again", report.Redelivered)
	}
}

func drain(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{Delay: 1500 * time.Millisecond})
	r.produce(1, 5)
	p := start(t, r.yaml(fast, "batchSize: 1"))
	p.until("a call is out", 20*time.Second, func() bool { return len(r.function.Attempts()) > 0 })
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	report := r.ledger.Report()
	at := record.TopicPartition{Topic: r.topic}
	if got := c.Committed(r.group)[at]; report.Taken == 0 || int64(got) != report.Taken {
		t.Errorf("%d taken, %d committed", report.Taken, got)
	}
	r.function.SetScript(function.Script{Delay: 4 * time.Second})
	p = start(t, r.yaml(fast, "batchSize: 1"))
	n := len(r.function.Attempts())
	p.until("a call is out", 20*time.Second, func() bool { return len(r.function.Attempts()) > n })
	began := time.Now()
	_ = p.cmd.Process.Signal(os.Interrupt)
	time.Sleep(400 * time.Millisecond)
	_ = p.cmd.Process.Signal(os.Interrupt)
	p.wait(10 * time.Second)
	if d := time.Since(began); d > 2900*time.Millisecond {
		t.Errorf("the second signal waited %s", d)
	}
}

func transactions(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 2, function.Script{})
	for i := range 20 {
		recs := []*kgo.Record{
			{Topic: r.topic, Partition: 0, Value: []byte(fmt.Sprint("a", i))},
			{Topic: r.topic, Partition: 1, Value: []byte(fmt.Sprint("b", i))},
		}
		c.ProduceTransaction(i%3 != 2, recs...)
		if i%3 != 2 {
			for _, rec := range recs {
				r.ledger.Record(rec)
			}
		}
	}
	p := start(t, r.yaml(fast))
	r.settled(30 * time.Second)
	p.stop()
	taken := r.judge().Taken
	if taken != 28 {
		t.Errorf("%d taken, want the 28 of the committed transactions", taken)
	}
	p = start(t, r.yaml(fast))
	time.Sleep(time.Second)
	p.stop()
	if report := r.ledger.Report(); report.Redelivered != 0 {
		t.Errorf("%d records came again after a restart", report.Redelivered)
	}
}

func expression(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{})
	other := r.topic + ".eu"
	c.CreateTopic(other, 1, nil)
	r.produce(1, 10)
	rec := &kgo.Record{Topic: other, Value: []byte("x")}
	c.Produce(rec)
	r.ledger.Record(rec)
	p := start(t, r.yaml(fmt.Sprintf("topics: ['~^%s(\\.eu)?$']", r.topic)))
	c.WaitLagZero(r.group, []string{r.topic, other}, 30*time.Second)
	p.stop()
	if report := r.judge(); report.Taken != 11 {
		t.Errorf("%d taken", report.Taken)
	}
}

// Fault 40: also by another name of the same cluster.
func sourceIsDestination(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{})
	yaml := strings.Replace(r.yaml(fmt.Sprintf("destinationConfig: {onFailure: {destination: 'kafka://alias/%s'}}", r.topic)),
		"functions:", fmt.Sprintf("  alias: {bootstrapServers: ['%s']}\nfunctions:", strings.Replace(c.Bootstrap()[0], "127.0.0.1", "localhost", 1)), 1)
	p := start(t, yaml)
	p.until("it is refused", 20*time.Second, func() bool {
		return strings.Contains(p.status().NotReadyReason, "dead letters")
	})
	resp, err := http.Get("http://" + p.address + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("readyz says %d", resp.StatusCode)
	}
}

// A partition without progress while it has lag shows with its reason; the others go on.
func stuck(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 3, function.Script{Rules: []function.Rule{{Action: function.Fail, Status: 502, Contains: poisonMark}}})
	r.produce(3, 300, 0)
	p := start(t, r.yaml("batchSize: 10", "retry: {initialBackoff: 300ms, maximumBackoff: 500ms}"))
	var stall string
	p.until("the stall shows", 30*time.Second, func() bool {
		for _, part := range p.status().Partitions {
			if part.Partition == 0 && part.Stalled != nil && strings.Contains(part.Stalled.Reason, "backoff") {
				stall = part.Stalled.Reason
			}
		}
		return stall != ""
	})
	if want := fmt.Sprintf("waiting in backoff for %s-0@0, attempt ", r.topic); !strings.HasPrefix(stall, want) || !strings.HasSuffix(stall, ", 502") {
		t.Errorf("the stall's reason is %q", stall)
	}
	p.until("the others are done", 20*time.Second, func() bool {
		done := 0
		for _, part := range p.status().Partitions {
			if part.Lag != nil && *part.Lag == 0 {
				done++
			}
		}
		return done == 2
	})
	var e controller.Explanation
	p.get("/sluice/v1/explain?mapping=orders&partition=0", &e)
	if len(e.Partitions) != 1 || e.Partitions[0].Wait == nil || e.Partitions[0].Wait.LastError == nil {
		t.Errorf("explanation: %+v", e)
	}
	r.function.SetScript(function.Script{})
	r.settled(20 * time.Second)
	p.stop()
	r.judge()
}
