package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// values is a function that counts what it takes by value, up to a blank: a topic that was created anew has the offsets of the old one, so
// that the ledger could not tell them apart.
type values struct {
	server *httptest.Server

	mu   sync.Mutex
	seen map[string]int
}

func newValues(t *testing.T) *values {
	v := &values{seen: map[string]int{}}
	v.server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		var event struct {
			Records map[string][]struct{ Value []byte }
		}
		if err := json.Unmarshal(body, &event); err != nil {
			t.Errorf("event: %v", err)
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, recs := range event.Records {
			for _, r := range recs {
				name, _, _ := strings.Cut(string(r.Value), " ")
				v.seen[name]++
			}
		}
	}))
	t.Cleanup(v.server.Close)
	return v
}

// count says how many values begin with the prefix, and how many came more than once.
func (v *values) count(prefix string) (n, twice int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for value, times := range v.seen {
		if strings.HasPrefix(value, prefix) {
			n++
			twice += times - 1
		}
	}
	return n, twice
}

// topicLife is two topics and a mapping that reads both.
type topicLife struct {
	t       *testing.T
	cluster *kafkatest.Cluster
	a, b    string
	values  *values
	group   record.GroupID
}

func newTopicLife(t *testing.T, c *kafkatest.Cluster, partitions int32) *topicLife {
	l := &topicLife{t: t, cluster: c, values: newValues(t)}
	l.a = fmt.Sprintf("%s-%d", c.Name("life"), rigs.Add(1))
	l.b, l.group = l.a+"-b", record.GroupID("g-"+l.a)
	if partitions > 0 {
		c.CreateTopic(l.a, partitions, nil)
	}
	c.CreateTopic(l.b, 1, nil)
	return l
}

func (l *topicLife) yaml(extra ...string) string {
	return fmt.Sprintf(`server: {listen: '127.0.0.1:0'}
clusters: {main: {bootstrapServers: ['%s']}}
functions: {orders: {url: '%s', timeout: 5s}}
mappings:
  - name: orders
    function: orders
    cluster: main
    consumerGroupId: %s
    topics: [%s, %s]
    maximumBatchingWindowInSeconds: 0
    %s
`, strings.Join(l.cluster.Bootstrap(), "','"), l.values.server.URL, l.group, l.a, l.b, strings.Join(extra, "\n    "))
}

// write writes values prefix-0, prefix-1, … round-robin.
func (l *topicLife) write(topic, prefix string, partitions, n int) {
	l.t.Helper()
	recs := make([]*kgo.Record, 0, n)
	for i := range n {
		recs = append(recs, &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: []byte(fmt.Sprintf("%s-%d", prefix, i))})
	}
	l.cluster.Produce(recs...)
}

// came waits until so many values with the prefix were taken, and fails if one came twice.
func (l *topicLife) came(p *process, prefix string, n int) {
	l.t.Helper()
	began := time.Now()
	p.until(fmt.Sprintf("%d of %s", n, prefix), 40*time.Second, func() bool { got, _ := l.values.count(prefix); return got >= n })
	got, twice := l.values.count(prefix)
	if got != n || twice > 0 {
		l.t.Errorf("%d values of %s came, %d of them again; want %d", got, prefix, twice, n)
	}
	l.t.Logf("%s: %d in %s", prefix, n, time.Since(began).Round(10*time.Millisecond))
}

// cpu is what a process has used so far; 0 where the system does not tell in Linux's way.
func cpu(p *process) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	var ticks time.Duration
	for _, field := range fields[11:13] { // user and system, in hundredths of a second
		n, _ := strconv.Atoi(field)
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond
}

func (p *process) ready() bool { return p.status().Ready }

// A topic that is deleted and created anew while it is read is read from its beginning, with LATEST too, again and again.
// Its neighbours miss nothing and get nothing twice.
func recreated(t *testing.T, c *kafkatest.Cluster) {
	l := newTopicLife(t, c, 2)
	p := start(t, l.yaml("startingPosition: LATEST"))
	p.until("it is ready", 30*time.Second, p.ready)
	l.write(l.a, "old", 2, 200)
	l.came(p, "old", 200)
	for round := range 2 {
		c.DeleteTopic(l.a)
		l.write(l.b, fmt.Sprint("beside", round), 1, 20)
		c.CreateTopic(l.a, 3, nil)
		l.write(l.a, fmt.Sprint("new", round), 3, 50)
		l.came(p, fmt.Sprint("new", round), 50)
		l.came(p, fmt.Sprint("beside", round), 20)
		p.until("it is ready again", 30*time.Second, p.ready)
	}
	c.WaitLagZero(l.group, []string{l.a, l.b}, 20*time.Second)
	p.stop()
	p = start(t, l.yaml("startingPosition: LATEST"))
	l.write(l.a, "after", 3, 10)
	l.came(p, "after", 10)
	p.stop()
	if n, twice := l.values.count(""); n != 200+100+40+10 || twice > 0 {
		t.Errorf("%d values, %d of them again", n, twice)
	}
	if lines := strings.Count(p.log.String(), "\n"); lines > 60 {
		t.Errorf("%d lines of log", lines)
	}
}

// With onTopicRecreated: stop, nothing of the new topic is read, also after a restart; status, readiness and explain say so.
func recreatedStops(t *testing.T, c *kafkatest.Cluster) {
	l := newTopicLife(t, c, 1)
	p := start(t, l.yaml("onTopicRecreated: stop"))
	l.write(l.a, "old", 1, 20)
	l.came(p, "old", 20)
	c.WaitLagZero(l.group, []string{l.a}, 20*time.Second)
	c.DeleteTopic(l.a)
	c.CreateTopic(l.a, 1, nil)
	l.write(l.a, "new", 1, 20)
	for round := range 2 {
		p.until("it says why it stops", 30*time.Second, func() bool {
			s := p.status()
			return !s.Ready && strings.Contains(s.NotReadyReason, l.a) && strings.Contains(s.NotReadyReason, "onTopicRecreated") &&
				strings.HasPrefix(s.LastProcessingResult, "PROBLEM: topic "+l.a)
		})
		l.write(l.b, fmt.Sprint("beside", round), 1, 5)
		l.came(p, fmt.Sprint("beside", round), 5)
		p.stop()
		p = start(t, l.yaml("onTopicRecreated: stop"))
	}
	p.stop()
	if n, _ := l.values.count("new"); n != 0 {
		t.Errorf("%d values of the new topic were taken", n)
	}
	p = start(t, l.yaml("onTopicRecreated: startAtBeginning"))
	l.came(p, "new", 20)
	p.until("it is ready", 30*time.Second, p.ready)
	p.stop()
}

// A topic that is deleted for good shows; it holds up no other, and costs no CPU. When it comes again it is read.
func deletedTopic(t *testing.T, c *kafkatest.Cluster) {
	l := newTopicLife(t, c, 3)
	p := start(t, l.yaml("startingPosition: LATEST"))
	p.until("it is ready", 30*time.Second, p.ready)
	l.write(l.a, "old", 3, 30)
	l.came(p, "old", 30)
	c.DeleteTopic(l.a)
	p.until("it says that the topic is gone", 30*time.Second, func() bool {
		s := p.status()
		return !s.Ready && strings.Contains(s.NotReadyReason, "topic "+l.a+" does not exist")
	})
	if c.Real() { // kfake goes on answering for a topic that its session should have forgotten
		before, began := cpu(p), time.Now()
		time.Sleep(3 * time.Second)
		if used := cpu(p) - before; used > time.Second {
			t.Errorf("%s of CPU in %s for a topic that does not exist", used, time.Since(began))
		}
	}
	l.write(l.b, "beside", 1, 20)
	l.came(p, "beside", 20)
	c.CreateTopic(l.a, 1, nil)
	l.write(l.a, "new", 1, 20)
	l.came(p, "new", 20)
	p.until("it is ready again", 30*time.Second, p.ready)
	p.stop()
	if lines := strings.Count(p.log.String(), "\n"); lines > 60 {
		t.Errorf("%d lines of log", lines)
	}
}

// A topic that grows is read in its new partitions, from their beginning, soon.
func grownTopic(t *testing.T, c *kafkatest.Cluster) {
	l := newTopicLife(t, c, 1)
	p := start(t, l.yaml("startingPosition: LATEST"))
	p.until("it is ready", 30*time.Second, p.ready)
	l.write(l.a, "old", 1, 10)
	l.came(p, "old", 10)
	if _, err := c.Admin().CreatePartitions(t.Context(), 2, l.a); err != nil {
		t.Fatal(err)
	}
	fresh := c.Client(kgo.RecordPartitioner(kgo.ManualPartitioner())) // it knows the new partitions
	defer fresh.Close()
	for i := range 30 {
		if err := fresh.ProduceSync(t.Context(), &kgo.Record{Topic: l.a, Partition: int32(i % 3), Value: []byte(fmt.Sprint("grown-", i))}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	l.came(p, "grown", 30)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the new partitions were read after %s; metadata alone would be as fast", took)
	}
	p.stop()
}

// Fault 110: the topic comes after its mapping, alone or with others, and LATEST loses nothing of it.
func lateTopic(t *testing.T, c *kafkatest.Cluster) {
	for _, only := range []bool{false, true} {
		l := newTopicLife(t, c, 0)
		yaml := l.yaml("startingPosition: LATEST")
		if only {
			yaml = strings.Replace(yaml, ", "+l.b+"]", "]", 1)
		}
		p := start(t, yaml)
		p.until("it misses the topic", 30*time.Second, func() bool {
			s := p.status()
			return !s.Ready && strings.Contains(s.NotReadyReason, l.a) && strings.Contains(s.NotReadyReason, "does not exist")
		})
		c.CreateTopic(l.a, 2, nil)
		l.write(l.a, "late", 2, 20)
		l.came(p, "late", 20)
		p.until("it is ready", 30*time.Second, p.ready)
		p.stop()
	}
}

// Fault 108, on any Kafka: records are deleted before they were read, while the mapping is stopped and while it runs and has
// records in flight. What was fetched is delivered, what was not is counted, to the record; the commit follows.
func overtaken(t *testing.T, c *kafkatest.Cluster) {
	l := newTopicLife(t, c, 1)
	at := record.TopicPartition{Topic: l.a}
	cut := func(below int64) {
		t.Helper()
		offsets := kadm.Offsets{}
		offsets.AddOffset(l.a, 0, below, -1)
		if _, err := c.Admin().DeleteRecords(t.Context(), offsets); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, l.yaml("pollerLimits: {throughput: unlimited}"))
	l.write(l.a, "first", 1, 50)
	l.came(p, "first", 50)
	p.stop()
	l.write(l.a, "second", 1, 100)
	cut(120)
	p = start(t, l.yaml("pollerLimits: {throughput: unlimited}"))
	l.came(p, "second", 30)
	p.until("what was lost is counted", 20*time.Second, func() bool { return p.status().Counts.LostToRetention == 70 })

	l.values.mu.Lock() // the function answers nothing
	const records, size = 400, 100_000
	for i := range records {
		c.Produce(&kgo.Record{Topic: l.a, Value: []byte(fmt.Sprintf("third-%d %s", i, strings.Repeat("x", size)))})
	}
	p.until("a batch is out and the buffer is full", 30*time.Second, func() bool {
		s := p.status()
		return s.InFlight.Records > 0 && s.Buffered.Bytes > 4<<20
	})
	cut(150 + records - 10)
	l.values.mu.Unlock()
	p.until("the end is committed", 60*time.Second, func() bool { return c.Committed(l.group)[at] == 150+records })
	taken, twice := l.values.count("third")
	if lost := p.status().Counts.LostToRetention - 70; int(lost)+taken != records || lost == 0 || twice > 0 {
		t.Errorf("%d taken, %d of them again, %d counted as lost; %d were written", taken, twice, lost, records)
	}
	p.stop()
}
