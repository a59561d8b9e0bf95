package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// payloads is what holds of payload: raw and cloudevents on every Kafka.
func payloads(t *testing.T, cluster func(t *testing.T) *kafkatest.Cluster) {
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, c *kafkatest.Cluster)
	}{
		{"raw: the value as it is, and headers for the rest", rawValues},
		{"raw: a function that fails on a tombstone does not stop the partition", rawTombstone},
		{"cloudevents: batches", cloudEventBatches},
		{"cloudevents: single events", singleCloudEvents},
		{"cloudevents: named events come again alone", cloudEventFailures},
		{"a dead letter as AWS writes it carries Lambda's event", payloadOfDeadLetter},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, cluster(t)) })
	}
}

func TestPayloadsOnKfake(t *testing.T) {
	payloads(t, func(t *testing.T) *kafkatest.Cluster { return kafkatest.Fake(t, kafkatest.Options{}) })
}

// got is one request that an endpoint answered.
type got struct {
	header http.Header
	body   []byte
}

// event is the CloudEvent of a request.
func (g got) request() *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(g.body))
	r.Header = g.header
	return r
}

// endpoint is a function that takes anything.
type endpoint struct {
	url    string
	mu     sync.Mutex
	calls  []got
	answer func(g got) (int, string) // nil answers 200
}

func serve(t *testing.T, answer func(g got) (int, string)) *endpoint {
	t.Helper()
	e := &endpoint{answer: answer}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	e.url = server.URL + "/"
	return e
}

// ServeHTTP takes a request.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	g := got{r.Header.Clone(), body}
	e.mu.Lock()
	e.calls = append(e.calls, g)
	e.mu.Unlock()
	if e.answer == nil {
		return
	}
	status, text := e.answer(g)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func (e *endpoint) all() []got {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

// with is the rig's configuration with another function.
func (r *rig) with(e *endpoint, extra ...string) string {
	return strings.Replace(r.yaml(extra...), r.function.URL(), e.url, 1)
}

// hostile are records that a payload must survive: faults 117 to 119.
func hostile(topic string) []*kgo.Record {
	recs := []*kgo.Record{
		{Key: []byte("order 1"), Value: []byte(`{"total":42}`), Headers: []kgo.RecordHeader{{Key: "n", Value: []byte("1")}, {Key: "n", Value: []byte("2")}}},
		{Key: []byte("k\r\nX-Evil: 1\x00"), Value: []byte("\x00\r\n\xff"), Headers: []kgo.RecordHeader{{Key: "a\r\nX-Evil: 2\x00", Value: []byte("\r\nX-Evil: 3\x00\xff")}}},
		{Key: []byte("deleted")},
		{Value: []byte("a,b"), Headers: []kgo.RecordHeader{{Key: "content-type", Value: []byte("text/csv")}}},
		{Value: []byte{}},
		{Value: []byte("x"), Headers: []kgo.RecordHeader{{Key: "large", Value: bytes.Repeat([]byte("l"), 100_000)}}},
	}
	for _, r := range recs {
		r.Topic = topic
	}
	return recs
}

func rawValues(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{})
	e := serve(t, nil)
	recs := hostile(r.topic)
	c.Produce(recs...)
	p := start(t, r.with(e, fast, "payload: raw", "batchSize: 1"))
	r.settled(30 * time.Second)
	p.stop()
	calls := e.all()
	if len(calls) != len(recs) {
		t.Fatalf("%d calls for %d records", len(calls), len(recs))
	}
	for i, g := range calls {
		rec := recs[i]
		if !bytes.Equal(g.body, rec.Value) {
			t.Errorf("record %d: body %q, want %q", i, g.body, rec.Value)
		}
		key, err := url.PathUnescape(g.header.Get("Sluice-Key"))
		if err != nil || key != string(rec.Key) {
			t.Errorf("record %d: key %q, %v", i, key, err)
		}
		if g.header.Get("Sluice-Topic") != r.topic || g.header.Get("Sluice-Partition") != "0" || g.header.Get("Sluice-Offset") != strconv.Itoa(i) {
			t.Errorf("record %d: place %v", i, g.header)
		}
		if (g.header.Get("Sluice-Tombstone") == "true") != (rec.Value == nil) || g.header.Get("X-Evil") != "" {
			t.Errorf("record %d: %v", i, g.header)
		}
	}
	if fields := calls[0].header.Get("Sluice-Headers"); fields != "n=1&n=2" {
		t.Errorf("fields %q", fields)
	}
	if ct := calls[3].header.Get("Content-Type"); ct != "text/csv" {
		t.Errorf("content type %q", ct)
	}
	if n := calls[5].header.Get("Sluice-Headers-Omitted"); n != "1" {
		t.Errorf("%q headers omitted", n)
	}
}

// Fault 119: a tombstone on which the function crashes uses up its attempts like any other record.
func rawTombstone(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Sluice-Tombstone") != "" {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	for _, value := range [][]byte{[]byte("a"), nil, []byte("b")} {
		c.Produce(&kgo.Record{Topic: r.topic, Key: []byte("k"), Value: value})
	}
	p := start(t, strings.Replace(r.yaml(fast, "payload: raw", "batchSize: 1", "maximumRetryAttempts: 2", quick, r.withDLQ()), r.function.URL(), server.URL+"/", 1))
	r.settled(30 * time.Second)
	p.stop()
	letters := c.Records(r.dlq)
	if len(letters) != 1 || letters[0].Value != nil || headers(letters[0])["sluice-offset"] != "1" || headers(letters[0])["sluice-attempts"] != "3" {
		t.Errorf("%d dead letters: %v", len(letters), letters)
	}
}

func cloudEventBatches(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{})
	e := serve(t, nil)
	recs := append(hostile(r.topic), &kgo.Record{
		Topic: r.topic, Value: []byte("v"), Headers: []kgo.RecordHeader{
			{Key: "ce_specversion", Value: []byte("1.0")},
			{Key: "ce_id", Value: []byte("A-1")},
			{Key: "ce_source", Value: []byte("/shop")},
			{Key: "ce_type", Value: []byte("com.example.created")},
			{Key: "content-type", Value: []byte("text/plain")},
		},
	}, &kgo.Record{
		Topic: r.topic, Value: []byte(`{"specversion":"1.0","id":"A-2","source":"/shop","type":"com.example.created","data":[1]}`),
		Headers: []kgo.RecordHeader{{Key: "content-type", Value: []byte("application/cloudevents+json")}},
	})
	c.Produce(recs...)
	p := start(t, r.with(e, "payload: cloudevents", "batchSize: 3", "maximumBatchBytes: 1MiB"))
	r.settled(30 * time.Second)
	p.stop()
	var events []cloudevents.Event
	for _, g := range e.all() {
		list, err := cehttp.NewEventsFromHTTPRequest(g.request())
		if err != nil || len(list) == 0 || len(list) > 3 {
			t.Fatalf("%d events, %v: %s", len(list), err, g.body)
		}
		events = append(events, list...)
	}
	if len(events) != len(recs) {
		t.Fatalf("%d events of %d records", len(events), len(recs))
	}
	for i, ev := range events {
		if err := ev.Validate(); err != nil {
			t.Errorf("event %d: %v", i, err)
		}
		if ev.Extensions()["kafkaoffset"] != strconv.Itoa(i) || ev.Extensions()["kafkatopic"] != r.topic {
			t.Errorf("event %d is of %v", i, ev.Extensions())
		}
		if i < 6 && (ev.ID() != fmt.Sprintf("%s-0@%d", r.topic, i) || ev.Source() != "kafka://main/"+r.topic+"#0" || !bytes.Equal(ev.Data(), recs[i].Value)) {
			t.Errorf("event %d: %v", i, ev)
		}
	}
	if events[6].ID() != "A-1" || string(events[6].Data()) != "v" || events[7].ID() != "A-2" || string(events[7].Data()) != "[1]" {
		t.Errorf("events were not passed on: %v, %v", events[6], events[7])
	}
}

func singleCloudEvents(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{})
	e := serve(t, nil)
	recs := hostile(r.topic)
	c.Produce(recs...)
	p := start(t, r.with(e, fast, "payload: cloudevents", "batchSize: 1"))
	r.settled(30 * time.Second)
	p.stop()
	calls := e.all()
	if len(calls) != len(recs) {
		t.Fatalf("%d calls for %d records", len(calls), len(recs))
	}
	for i, g := range calls {
		ev, err := cehttp.NewEventFromHTTPRequest(g.request())
		if err != nil {
			t.Fatal(err)
		}
		if err := ev.Validate(); err != nil || !bytes.Equal(ev.Data(), recs[i].Value) || ev.ID() != fmt.Sprintf("%s-0@%d", r.topic, i) {
			t.Errorf("event %d: %v: %v", i, err, ev)
		}
		binary := i == 2 || i == 3 || i == 4 // the others have what a header cannot carry alike for all
		if (g.header.Get("Ce-Id") != "") != binary {
			t.Errorf("event %d: %v", i, g.header)
		}
	}
}

// The identifiers of batchItemFailures are those of Lambda, from the event's attributes.
func cloudEventFailures(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{})
	e := serve(t, func(g got) (int, string) {
		events, _ := cehttp.NewEventsFromHTTPRequest(g.request())
		var failures []string
		for _, ev := range events {
			if bytes.Contains(ev.Data(), []byte(poisonMark)) {
				x := ev.Extensions()
				failures = append(failures, fmt.Sprintf(`{"itemIdentifier":{"partition":"%v-%v","offset":"%v"}}`, x["kafkatopic"], x["kafkapartition"], x["kafkaoffset"]))
			}
		}
		return 200, `{"batchItemFailures":[` + strings.Join(failures, ",") + `]}`
	})
	r.produce(1, 20, 4, 11)
	p := start(t, r.with(e, "payload: cloudevents", "functionResponseTypes: [ReportBatchItemFailures]", "maximumRetryAttempts: 2", quick, r.withDLQ()))
	r.settled(30 * time.Second)
	p.stop()
	seen := map[string]int{}
	for _, g := range e.all() {
		events, err := cehttp.NewEventsFromHTTPRequest(g.request())
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			seen[fmt.Sprint(ev.Extensions()["kafkaoffset"])]++
		}
	}
	for i := range 20 {
		want := 1
		if i == 4 || i == 11 {
			want = 3
		}
		if n := seen[strconv.Itoa(i)]; n != want {
			t.Errorf("record %d came %d times, want %d", i, n, want)
		}
	}
	if n := len(r.letters()); n != 2 {
		t.Errorf("%d dead letters, want 2", n)
	}
}

func payloadOfDeadLetter(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{})
	e := serve(t, func(got) (int, string) { return 500, "" })
	r.produce(1, 1)
	p := start(t, r.with(e, fast, "payload: cloudevents", "maximumRetryAttempts: 0", quick,
		fmt.Sprintf("destinationConfig: {onFailure: {destination: 'kafka://%s', format: aws}}", r.dlq)))
	r.settled(30 * time.Second)
	p.stop()
	letters := c.Records(r.dlq)
	if len(letters) != 1 {
		t.Fatalf("%d dead letters", len(letters))
	}
	var doc struct {
		Payload struct {
			EventSource string
			Records     map[string][]struct{ Offset int }
		}
	}
	if err := json.Unmarshal(letters[0].Value, &doc); err != nil || doc.Payload.EventSource != "SelfManagedKafka" || len(doc.Payload.Records[r.topic+"-0"]) != 1 {
		t.Errorf("dead letter: %v: %s", err, letters[0].Value)
	}
}
