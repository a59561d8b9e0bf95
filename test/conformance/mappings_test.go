package conformance

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/controller"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// entry is one mapping of a configuration with many.
type entry struct {
	name, function, topic string
}

// group is the mapping's own.
func (e entry) group() record.GroupID { return record.GroupID("g-" + e.name) }

// many is a configuration; urls are the functions by name.
func many(c *kafkatest.Cluster, urls map[string]string, entries []entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "server: {listen: '127.0.0.1:0'}\nclusters:\n  main: {bootstrapServers: ['%s']}\nfunctions:\n", strings.Join(c.Bootstrap(), "','"))
	for name, url := range urls {
		fmt.Fprintf(&b, "  %s: {url: '%s', timeout: 5s}\n", name, url)
	}
	b.WriteString("defaults: {cluster: main, maximumBatchingWindowInSeconds: 0, retry: {initialBackoff: 10ms, maximumBackoff: 1s}}\nmappings:\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "  - {name: %s, function: %s, topics: [%s], consumerGroupId: %s}\n", e.name, e.function, e.topic, e.group())
	}
	return b.String()
}

// mappings asks for all of them, by name.
func (p *process) mappings() map[string]controller.MappingStatus {
	p.t.Helper()
	var s controller.Status
	p.get("/sluice/v1/status", &s)
	all := make(map[string]controller.MappingStatus, len(s.Mappings))
	for _, m := range s.Mappings {
		all[m.Name] = m
	}
	return all
}

// metric reads the series of one metric, by their labels as the page has them.
func (p *process) metric(name string) map[string]float64 {
	p.t.Helper()
	resp, err := http.Get("http://" + p.address + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	series := map[string]float64{}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		labels, ok := strings.CutPrefix(lines.Text(), name+"{")
		if !ok {
			continue
		}
		labels, value, _ := strings.Cut(labels, "} ")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			p.t.Fatal(err)
		}
		series[labels] = n
	}
	return series
}

// Fault 20: one partition of one group stood still, unseen among 150. Here it is one of 300, in one of 50 mappings on a
// topic, and every place shows it and no other.
func TestOneStalledPartitionShowsAmongFiftyMappings(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	topic := c.Name("orders")
	c.CreateTopic(topic, 6, nil)
	healthy, sick := scripted(t, function.Script{}), scripted(t, function.Script{Rules: []function.Rule{
		{Action: function.Fail, Contains: poisonMark},
	}})
	var entries []entry
	for i := range 50 {
		entries = append(entries, entry{fmt.Sprintf("m%02d", i), "healthy", topic})
	}
	const bad = "m17"
	entries[17].function = "sick"
	p := start(t, many(c, map[string]string{"healthy": healthy.URL(), "sick": sick.URL()}, entries))

	n := 0
	produce := func() {
		var recs []*kgo.Record
		for i := range 60 {
			value := strconv.Itoa(n)
			if n == 3 { // the first record of partition 3
				value = poisonMark
			}
			recs = append(recs, &kgo.Record{Topic: topic, Partition: int32(i % 6), Value: []byte(value)})
			n++
		}
		c.Produce(recs...)
	}
	produce()
	stalled := fmt.Sprintf(`mapping="%s",partition="3",topic="%s"`, bad, topic)
	p.until("the metric of the one partition rises past 5 s while records come", 60*time.Second, func() bool {
		if n < 3000 {
			produce()
		}
		return p.metric("sluice_partition_stalled_seconds")[stalled] > 5
	})
	p.until("all others are done", 60*time.Second, func() bool {
		for name, m := range p.mappings() {
			if name != bad && (m.Lag == nil || *m.Lag > 0) {
				return false
			}
		}
		return true
	})
	series := p.metric("sluice_partition_stalled_seconds")
	if len(series) != 300 {
		t.Errorf("%d partitions have the metric, want 300", len(series))
	}
	for labels, s := range series {
		if labels != stalled && s > 0 {
			t.Errorf("{%s} stands still for %g s too", labels, s)
		}
	}
	for name, m := range p.mappings() {
		for _, part := range m.Partitions {
			if got, want := part.Stalled != nil, name == bad && part.Partition == 3; got != want {
				t.Errorf("%s, partition %d: stalled %t", name, part.Partition, got)
			}
		}
	}
	sick.SetScript(function.Script{})
	p.until("it goes on", 30*time.Second, func() bool {
		return p.metric("sluice_partition_stalled_seconds")[stalled] == 0
	})
	c.WaitLagZero(entries[17].group(), []string{topic}, 30*time.Second)
}

// Fault 111: the second pair of topic and function never fired, and the order of creation mattered. Ten mappings to ten
// functions, in an order by chance; half of them go and come back.
func TestTenMappingsGetTheirOwnRecordsInAnyOrder(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	urls := map[string]string{}
	var rigs []*rig
	var entries []entry
	for i := range 10 {
		r := newRig(t, c, 2, function.Script{})
		rigs = append(rigs, r)
		e := entry{fmt.Sprintf("m%d", i), fmt.Sprintf("f%d", i), r.topic}
		r.group = e.group()
		urls[e.function] = r.function.URL()
		entries = append(entries, e)
	}
	shuffled := func(some []entry) []entry {
		mixed := append([]entry(nil), some...)
		rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		return mixed
	}
	run := func(present []entry) {
		t.Helper()
		p := start(t, many(c, urls, shuffled(present)))
		for _, r := range rigs { // those without a mapping now keep theirs for later
			r.produce(2, 50)
		}
		for i := range entries {
			for _, e := range present {
				if e == entries[i] {
					rigs[i].settled(30 * time.Second)
				}
			}
		}
		p.stop()
	}
	run(entries)
	run(entries[:5])
	run(entries)
	for i, r := range rigs {
		report := r.judge()
		if report.Taken != 150 || report.Duplicates != 0 {
			t.Errorf("m%d: %d taken, want 150; %d twice", i, report.Taken, report.Duplicates)
		}
		for _, a := range r.function.Attempts() {
			if a.Mapping != entries[i].name || a.Runs[0].Topic != r.topic {
				t.Fatalf("the function of %s was called by %s with %s", entries[i].name, a.Mapping, a.Runs[0].TopicPartition)
			}
		}
	}
}

// Fault 115: a self-managed cluster was reached only by luck. One dead bootstrap address beside a good one costs nothing,
// whichever comes first; where all are dead, the state names them and says why.
func TestADeadBootstrapAddressBesideAGoodOne(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	for name, servers := range map[string]string{
		"the dead one first": "'127.0.0.1:1','" + c.Bootstrap()[0] + "'",
		"the dead one last":  "'" + c.Bootstrap()[0] + "','127.0.0.1:1'",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c, 2, function.Script{})
			r.produce(2, 20)
			p := start(t, strings.Replace(r.yaml(fast), "'"+c.Bootstrap()[0]+"'", servers, 1))
			r.settled(20 * time.Second)
			if st := p.status(); !st.Ready || st.LastProcessingResult != "OK" {
				t.Errorf("ready %t (%s), %s", st.Ready, st.NotReadyReason, st.LastProcessingResult)
			}
			p.stop()
			r.judge()
		})
	}
	for name, extra := range map[string]string{
		"all are dead": fast,
		"all are dead, and there is a destination": "destinationConfig: {onFailure: {destination: 'kafka://orders-dlq'}}",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c, 2, function.Script{})
			p := start(t, strings.Replace(r.yaml(extra), "'"+c.Bootstrap()[0]+"'", "'127.0.0.1:1','localhost:2'", 1))
			var st controller.MappingStatus
			p.until("it says why", 20*time.Second, func() bool {
				st = p.status()
				return strings.Contains(st.NotReadyReason, "nothing listens")
			})
			for _, said := range []string{st.NotReadyReason, st.StateReason, st.LastProcessingResult} {
				if !strings.Contains(said, "127.0.0.1:1, localhost:2") || !strings.Contains(said, "nothing listens") {
					t.Errorf("it says %q; want the addresses and the cause", said)
				}
			}
		})
	}
}

// scripted starts a function without a ledger.
func scripted(t *testing.T, script function.Script) *function.Function {
	t.Helper()
	fn, err := function.Start(function.Config{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fn.Close() })
	return fn
}
