package invoke

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// The events are read with the SDK of the CloudEvents project, as a function in Go would.

// delivered is the request that a function gets.
func delivered(t testing.TB, e *CloudEventsEncoder, runs ...record.Run) (*Request, *http.Request) {
	t.Helper()
	planned := e.Overhead()
	for i := range runs {
		planned += e.RunOverhead(runs[i].TopicPartition)
		for _, r := range runs[i].Records {
			planned += e.RecordSize(r)
		}
	}
	req := &Request{Body: []byte{}}
	e.Encode(req, runs)
	if len(req.Body) != planned {
		t.Errorf("a body of %d bytes, planned %d: %s", len(req.Body), planned, req.Body)
	}
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(req.Body))
	for _, h := range req.Header {
		r.Header.Set(h.Name, h.Value)
	}
	return req, r
}

// single is the event that a function gets from a mapping with a batch size of 1.
func single(t testing.TB, r *record.Record) (*cloudevents.Event, *Request) {
	t.Helper()
	req, httpReq := delivered(t, NewCloudEventsEncoder("main", true), run(r))
	got, err := cehttp.NewEventFromHTTPRequest(httpReq)
	if err != nil {
		t.Fatalf("%v: %v\n%s", err, req.Header, req.Body)
	}
	if err := got.Validate(); err != nil {
		t.Errorf("%v: %v\n%s", err, req.Header, req.Body)
	}
	return got, req
}

// batch is the events that a function gets in one request.
func batch(t testing.TB, runs ...record.Run) ([]cloudevents.Event, *Request) {
	t.Helper()
	req, httpReq := delivered(t, NewCloudEventsEncoder("main", false), runs...)
	if !cehttp.IsHTTPBatch(httpReq.Header) {
		t.Errorf("no batch: %v", req.Header)
	}
	got, err := cehttp.NewEventsFromHTTPRequest(httpReq)
	if err != nil {
		t.Fatalf("%v\n%s", err, req.Body)
	}
	for i := range got {
		if err := got[i].Validate(); err != nil {
			t.Errorf("event %d: %v\n%s", i, err, req.Body)
		}
	}
	return got, req
}

// extension is an attribute's value, "" where it is not set.
func extension(e *cloudevents.Event, name string) string {
	v, ok := e.Extensions()[name]
	if !ok {
		return ""
	}
	return fmt.Sprint(v)
}

// checkPlace holds that batchItemFailures can be answered from the event.
func checkPlace(t testing.TB, e *cloudevents.Event, r *record.Record) {
	t.Helper()
	for name, want := range map[string]string{
		"kafkatopic": mended(r.Topic), "kafkapartition": strconv.Itoa(int(r.Partition)), "kafkaoffset": strconv.FormatInt(r.Offset, 10),
	} {
		if got := extension(e, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// checkWrapped compares an event of ours with its record.
func checkWrapped(t testing.TB, e *cloudevents.Event, r *record.Record) {
	t.Helper()
	checkPlace(t, e, r)
	tp := record.TopicPartition{Topic: mended(r.Topic), Partition: r.Partition}
	if e.ID() != tp.At(record.Offset(r.Offset)) || e.Type() != CloudEventRecordType {
		t.Errorf("id %q, type %q", e.ID(), e.Type())
	}
	u, err := url.Parse(e.Source())
	if err != nil || u.Scheme != "kafka" || u.Host != "main" || u.Path != "/"+r.Topic || u.Fragment != strconv.Itoa(int(r.Partition)) {
		t.Errorf("source %q: %v", e.Source(), err)
	}
	if r.Timestamp.UnixMilli() >= 0 && r.Timestamp.UTC().Year() <= 9999 && !e.Time().Equal(r.Timestamp.Truncate(time.Millisecond)) {
		t.Errorf("time %v, want %v", e.Time(), r.Timestamp)
	}
	if n, err := strconv.ParseInt(extension(e, "sequence"), 10, 64); err != nil || n != r.Offset {
		t.Errorf("sequence %q, want %d", extension(e, "sequence"), r.Offset)
	}
	key := e.Subject()
	if key != extension(e, "partitionkey") {
		t.Errorf("subject %q, partition key %q", key, extension(e, "partitionkey"))
	}
	if text := extension(e, "kafkakey"); text != "" {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil || key != "" {
			t.Errorf("key %q beside %q: %v", text, key, err)
		}
		key = string(b)
	}
	if key != string(r.Key) {
		t.Errorf("key %q, want %q", key, r.Key)
	}
	want := r.Headers
	if own, i := contentType(r); i >= 0 && r.Value != nil {
		if e.DataContentType() != own {
			t.Errorf("content type %q, want %q", e.DataContentType(), own)
		}
		want = append(append([]kgo.RecordHeader{}, want[:i]...), want[i+1:]...)
	}
	if tt, ok := t.(*testing.T); ok {
		checkFields(tt, extension(e, "kafkaheaders"), want)
	}
	checkData(t, e, r.Value)
}

// checkData compares an event's data with a record's value: bytes, or the same JSON.
func checkData(t testing.TB, e *cloudevents.Event, value []byte) {
	t.Helper()
	if (value == nil) != (e.DataContentType() == "") && e.Type() == CloudEventRecordType {
		t.Errorf("content type %q for %q", e.DataContentType(), value)
	}
	got := e.Data()
	if bytes.Equal(got, value) {
		return
	}
	var a, b bytes.Buffer
	if json.Compact(&a, got) != nil || json.Compact(&b, value) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("data %q, want %q", got, value)
	}
}

func TestWrappedRecords(t *testing.T) {
	for _, c := range []struct {
		name        string
		change      func(r *record.Record)
		contentType string
		binary      bool
		json        string // a part of the event in a batch
	}{
		{"JSON", func(r *record.Record) { r.Value = []byte(` {"a":[1.50,"é"]} `) }, "application/json", true, `"data": {"a":[1.50,"é"]} }`},
		{"a JSON null is data", func(r *record.Record) { r.Value = []byte(`null`) }, "application/json", true, `"data":null}`},
		{"text", func(r *record.Record) { r.Value = []byte("plain \"text\"\n") }, "text/plain; charset=utf-8", true, `"data":"plain \"text\"\n"}`},
		{"an empty value", func(r *record.Record) { r.Value = []byte{} }, "text/plain; charset=utf-8", true, `"data":""}`},
		{"bytes", func(r *record.Record) { r.Value = []byte{0, 1, 255} }, "application/octet-stream", true, `"data_base64":"AAH/"}`},
		{"a tombstone has no data", func(r *record.Record) { r.Value = nil }, "", true, `"kafkaoffset":"15"}`},
		{"JSON with bytes that are not UTF-8", func(r *record.Record) { r.Value = []byte("\"\xff\"") }, "application/octet-stream", true, `"data_base64":"Iv8i"}`},
		{"its own type", func(r *record.Record) {
			r.Value, r.Headers = []byte("a,b"), []kgo.RecordHeader{{Key: "content-type", Value: []byte("text/csv")}}
		}, "text/csv", true, `"datacontenttype":"text/csv","data":"a,b"}`},
		{"text in another charset", func(r *record.Record) {
			r.Value, r.Headers = []byte("ab"), []kgo.RecordHeader{{Key: "content-type", Value: []byte("text/csv; charset=UTF-16")}}
		}, "text/csv; charset=UTF-16", true, `"data_base64":"YWI="}`},
		{"JSON that is none", func(r *record.Record) {
			r.Value, r.Headers = []byte("{"), []kgo.RecordHeader{{Key: "content-type", Value: []byte("application/json")}}
		}, "application/json", true, `"data_base64":"ew=="}`},
		{"a type that ends in +json", func(r *record.Record) {
			r.Value, r.Headers = []byte("{}"), []kgo.RecordHeader{{Key: "content-type", Value: []byte("application/problem+json")}}
		}, "application/problem+json", true, `"data_base64":"e30="}`},
		{"a key with a blank", func(r *record.Record) { r.Key = []byte("order 17") }, "text/plain; charset=utf-8", false, `"subject":"order 17","partitionkey":"order 17"`},
		{"a key with a percent sign", func(r *record.Record) { r.Key = []byte("100%") }, "text/plain; charset=utf-8", false, `"subject":"100%"`},
		{"a key beyond ASCII", func(r *record.Record) { r.Key = []byte("größe") }, "text/plain; charset=utf-8", false, `"subject":"größe"`},
		{"a key of bytes", func(r *record.Record) { r.Key = []byte{0, 255} }, "text/plain; charset=utf-8", true, `"kafkakey":"AP8="`},
		{"a key of blanks", func(r *record.Record) { r.Key = []byte("  ") }, "text/plain; charset=utf-8", true, `"kafkakey":"ICA="`},
		{"plain headers", func(r *record.Record) { r.Headers = traceparent }, "text/plain; charset=utf-8", true, `"kafkaheaders":"traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`},
		{"headers of every sort", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "a\r\n", Value: []byte{0}}, {Key: "a\r\n"}}
		}, "text/plain; charset=utf-8", false, `"kafkaheaders":"a%0D%0A=%00&a%0D%0A"`},
		{"headers beyond the bound", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "a", Value: bytes.Repeat([]byte("a"), HeaderBytesMax)}}
		}, "text/plain; charset=utf-8", false, `"kafkaheaders":"a=aaaa`},
		{"no timestamp", func(r *record.Record) { r.Timestamp = time.UnixMilli(-1) }, "text/plain; charset=utf-8", true, `"partitionkey":"k","sequence":"0000000000000000015"`},
		{"an event in a format that we do not read", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "content-type", Value: []byte("application/cloudevents+avro")}}
		}, "application/cloudevents+avro", false, `"data_base64":"dg=="}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := at("orders", 3, 15, 1796033701000)
			r.Key, r.Value = []byte("k"), []byte("v")
			c.change(r)
			e, req := single(t, r)
			checkWrapped(t, e, r)
			checkHeader(t, req)
			if binary := req.value("Ce-Id") != ""; binary != c.binary {
				t.Errorf("binary is %v: %v", binary, req.Header)
			}
			if e.DataContentType() != c.contentType {
				t.Errorf("content type %q, want %q", e.DataContentType(), c.contentType)
			}
			events, req := batch(t, run(at("orders", 3, 14, 1), r), run(at("a", 0, 1, 1)))
			if len(events) != 3 || !strings.Contains(string(req.Body), c.json) {
				t.Errorf("%d events: %s\nlack %s", len(events), req.Body, c.json)
			}
			checkWrapped(t, &events[1], r)
		})
	}
}

func TestABinaryTombstoneHasNoContentType(t *testing.T) {
	_, req := single(t, at("orders", 0, 1, 1))
	if req.value("Content-Type") != "" || len(req.Body) != 0 || req.value("Ce-Specversion") != "1.0" {
		t.Errorf("%v: %q", req.Header, req.Body)
	}
}

func TestCloudEventsOfRandomRecords(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 4))
		runs := randomRuns(rng, 1+rng.IntN(4), 1+rng.IntN(5))
		events, _ := batch(t, runs...)
		i := 0
		for _, run := range runs {
			for _, r := range run.Records {
				e, req := single(t, r)
				checkHeader(t, req)
				checkWrapped(t, e, r)
				checkWrapped(t, &events[i], r)
				i++
			}
		}
		if i != len(events) {
			t.Errorf("%d events of %d records", len(events), i)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// FuzzCloudEvents: whatever a record holds, the SDK reads the event, alone and in a batch.
func FuzzCloudEvents(f *testing.F) {
	f.Add("orders", int32(0), int64(15), int64(1796033701000), []byte("k"), []byte(`{"a":1}`), "trace", []byte{1, 200}, uint8(16))
	f.Add("o\r\n%", int32(-1), int64(-1), int64(-1), []byte("\r\n"), []byte("\xff"), "content-type", []byte("text/plain"), uint8(16))
	f.Add("orders", int32(0), int64(1), int64(1), []byte("k"), []byte(`{"specversion":"1.0","id":"1","source":"/s","type":"t","data":{}}`), "content-type", []byte("application/cloudevents+json"), uint8(16))
	f.Add("orders", int32(0), int64(1), int64(1), []byte("k"), []byte("v"), "ce_id", []byte("7"), uint8(28))
	f.Fuzz(func(t *testing.T, topic string, partition int32, offset, millis int64, key, value []byte, name string, header []byte, flags uint8) {
		r := fuzzed(topic, partition, offset, millis%(1<<48), key, value, name, header, flags)
		if flags&12 == 12 { // the required headers of a binary event
			for attribute, value := range map[string]string{"specversion": "1.0", "id": "1", "source": "/s", "type": "t"} {
				if "ce_"+attribute != name || flags>>4 == 0 {
					r.Headers = append(r.Headers, kgo.RecordHeader{Key: "ce_" + attribute, Value: []byte(value)})
				}
			}
		}
		e, req := single(t, r)
		checkHeader(t, req)
		events, _ := batch(t, run(r), run(at("other", 1, 2, 3)))
		if len(events) != 2 {
			t.Fatalf("%d events of 2", len(events))
		}
		if _, passed := passedOn(r); !passed && topic != "" {
			checkWrapped(t, e, r)
			checkWrapped(t, &events[0], r)
		}
		checkPlace(t, e, r)
		checkPlace(t, &events[0], r)
		if e.ID() != events[0].ID() || e.Source() != events[0].Source() || e.Type() != events[0].Type() || e.Subject() != events[0].Subject() || e.DataContentType() != events[0].DataContentType() {
			t.Errorf("alone %v\nin a batch %v", e, events[0])
		}
	})
}
