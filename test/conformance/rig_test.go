package conformance

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/ledger"
	"github.com/sluicehq/sluice/test/network"
)

// rig is one mapping's world: topics, a function, and the ledger that judges.
type rig struct {
	t          *testing.T
	cluster    *kafkatest.Cluster
	topic, dlq string
	partitions int32 // of topic
	group      record.GroupID
	function   *function.Function
	ledger     *ledger.Ledger
	// bootstrap and url are what Sluice is told: the cluster's and the function's own, if nothing stands in between.
	bootstrap []string
	url       string
	// notes are what the run has to tell of itself.
	notes []string
}

// rigs counts, so that each has topics of its own.
var rigs atomic.Int32

// poisonMark is in the value of records that the script poisons.
const poisonMark = "poison"

func newRig(t *testing.T, c *kafkatest.Cluster, partitions int32, script function.Script) *rig {
	t.Helper()
	r := &rig{t: t, cluster: c, partitions: partitions, topic: fmt.Sprintf("%s-%d", c.Name("orders"), rigs.Add(1)), ledger: ledger.New(ledger.PerPartition), bootstrap: c.Bootstrap()}
	r.dlq = r.topic + "-dlq"
	r.group = record.GroupID("g-" + r.topic)
	c.CreateTopic(r.topic, partitions, nil)
	c.CreateTopic(r.dlq, 1, nil)
	r.serve(script)
	return r
}

func (r *rig) serve(script function.Script) {
	r.t.Helper()
	fn, err := function.Start(function.Config{Script: script, Ledger: r.ledger})
	if err != nil {
		r.t.Fatal(err)
	}
	r.function, r.url = fn, fn.URL()
	r.t.Cleanup(func() { _ = fn.Close() })
}

// between puts a network of ours between Sluice and the function.
func (r *rig) between() *network.Link {
	r.t.Helper()
	way, err := network.Open("127.0.0.1:0", strings.TrimSuffix(strings.TrimPrefix(r.function.URL(), "http://"), "/"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(way.Close)
	r.url = "http://" + way.Address() + "/"
	return way
}

// note logs something that belongs into a line about the run.
func (r *rig) note(format string, args ...any) {
	r.t.Helper()
	text := fmt.Sprintf(format, args...)
	r.notes = append(r.notes, text)
	r.t.Log(text)
}

// yaml is a configuration of the one mapping; extra lines belong to the mapping, indented by nothing.
func (r *rig) yaml(extra ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "server: {listen: '127.0.0.1:0'}\nclusters:\n  main: {bootstrapServers: ['%s']}\n", strings.Join(r.bootstrap, "','"))
	fmt.Fprintf(&b, "functions:\n  orders: {url: '%s', timeout: 5s}\n", r.url)
	fmt.Fprintf(&b, "mappings:\n  - name: orders\n    function: orders\n    cluster: main\n    consumerGroupId: %s\n", r.group)
	topics := false
	for _, line := range extra {
		fmt.Fprintf(&b, "    %s\n", line)
		topics = topics || strings.HasPrefix(line, "topics:")
	}
	if !topics {
		fmt.Fprintf(&b, "    topics: [%s]\n", r.topic)
	}
	return b.String()
}

func (r *rig) withDLQ() string {
	return fmt.Sprintf("destinationConfig: {onFailure: {destination: 'kafka://%s'}}", r.dlq)
}

const (
	fast  = "maximumBatchingWindowInSeconds: 0"
	quick = "retry: {initialBackoff: 10ms, maximumBackoff: 100ms}"
)

// produce writes n records round-robin over the partitions and tells the ledger. Records whose number is in poison
// carry the mark.
func (r *rig) produce(partitions int32, n int, poison ...int) {
	r.t.Helper()
	marked := map[int]bool{}
	for _, i := range poison {
		marked[i] = true
	}
	const stretch = 20_000
	for from := 0; from < n; from += stretch {
		var recs []*kgo.Record
		for i := from; i < min(n, from+stretch); i++ {
			value := fmt.Sprintf(`{"order":%d,"noise":%d}`, i, rand.Uint64())
			if marked[i] {
				value = fmt.Sprintf(`{"order":%d,"%s":true}`, i, poisonMark)
			}
			recs = append(recs, &kgo.Record{
				Topic: r.topic, Partition: int32(i) % partitions, Key: []byte(strconv.Itoa(i)), Value: []byte(value),
				Headers: []kgo.RecordHeader{{Key: "n", Value: []byte(strconv.Itoa(i))}},
			})
		}
		r.cluster.Produce(recs...)
		for _, rec := range recs {
			r.ledger.Record(rec)
		}
	}
}

// settled waits until the group has no lag.
func (r *rig) settled(timeout time.Duration) {
	r.t.Helper()
	r.cluster.WaitLagZero(r.group, []string{r.topic}, timeout)
}

// letters reads the dead-letter topic (format record) and tells the ledger.
func (r *rig) letters() []*record.Record {
	r.t.Helper()
	recs := r.cluster.Records(r.dlq)
	for _, rec := range recs {
		h := headers(rec)
		p, err1 := strconv.Atoi(h["sluice-partition"])
		o, err2 := strconv.ParseInt(h["sluice-offset"], 10, 64)
		if err1 != nil || err2 != nil {
			r.t.Fatalf("a dead letter without origin: %v", h)
		}
		r.ledger.DeadLettered(record.TopicPartition{Topic: h["sluice-topic"], Partition: int32(p)}, record.Offset(o), rec.Timestamp)
	}
	return recs
}

func headers(rec *record.Record) map[string]string {
	h := map[string]string{}
	for _, x := range rec.Headers {
		h[x.Key] = string(x.Value)
	}
	return h
}

// judge fails the test if anything was lost or out of order, and returns the report.
func (r *rig) judge() ledger.Report {
	r.t.Helper()
	report := r.ledger.Report()
	r.t.Logf("\n%s", report)
	if err := report.Err(); err != nil {
		r.t.Error(err)
	}
	return report
}
