package invoke

import (
	"strings"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// structured is a record with a CloudEvent in structured mode.
func structured(document string) *record.Record {
	r := at("orders", 3, 15, 1796033701000)
	r.Key, r.Value = []byte("k"), []byte(document)
	r.Headers = []kgo.RecordHeader{{Key: "content-type", Value: []byte("application/cloudevents+json; charset=UTF-8")}, {Key: "n", Value: []byte("5")}}
	return r
}

// inBinary is a record with a CloudEvent in binary mode. Headers are given as name=value.
func inBinary(value string, headers ...string) *record.Record {
	r := at("orders", 3, 15, 1796033701000)
	r.Key, r.Value = []byte("k"), []byte(value)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, "=")
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
	}
	return r
}

const shop = `"specversion":"1.0","id":"A-1","source":"https://shop.example.com/orders","type":"com.example.created"`

var shopHeaders = []string{"ce_specversion=1.0", "ce_id=A-1", "ce_source=https://shop.example.com/orders", "ce_type=com.example.created"}

func headersOfShop(more ...string) []string { return append(shopHeaders[:4:4], more...) }

func checkShop(t *testing.T, e *cloudevents.Event, r *record.Record) {
	t.Helper()
	checkPlace(t, e, r)
	if e.ID() != "A-1" || e.Source() != "https://shop.example.com/orders" || e.Type() != "com.example.created" {
		t.Errorf("event %v", e)
	}
	if extension(e, "sequence") != "" || extension(e, "kafkaheaders") != "" {
		t.Errorf("another event's attributes: %v", e)
	}
}

// CloudEvents, Kafka protocol binding 1.0.2, section 3: what is an event already goes on as that event.
func TestEventsArePassedOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		record *record.Record
		binary bool
		data   string
		ext    map[string]string
	}{
		{"structured", structured(`{` + shop + `,"data":{"a":1}}`), false, `{"a":1}`, nil},
		{"structured, in another order and with blanks", structured(" {\n \"data\" : [1, 2] , " + shop + " } \n"), false, `[1, 2]`, nil},
		{"structured with text", structured(`{` + shop + `,"datacontenttype":"text/plain","data":"\u00e9\n"}`), false, "é\n", nil},
		{"structured with bytes", structured(`{` + shop + `,"datacontenttype":"image/png","data_base64":"AAH/"}`), false, "\x00\x01\xff", nil},
		{"structured without data", structured(`{` + shop + `}`), false, "", nil},
		{"structured with null for what is not set", structured(`{"subject":null,"time":null,"data_base64":null,` + shop + `,"data":1}`), false, "1", nil},
		{"structured with extensions", structured(`{` + shop + `,"n":-5,"b":true,"s":"x \u00e9","e":"","none":null}`), false, "", map[string]string{"n": "-5", "b": "true", "s": "x é", "e": ""}},
		{"structured that came by another topic", structured(`{"kafkaoffset":"99",` + shop + `,"kafkatopic":"other","kafkapartition":7}`), false, "", nil},
		{"binary", inBinary("v", headersOfShop("content-type=text/plain", "n=5", "ce_time=2026-09-01T10:00:00.5Z", "ce_traceparent=00-1-2-01")...), true, "v", map[string]string{"traceparent": "00-1-2-01"}},
		{"binary without content type", inBinary("\x00\xff", shopHeaders...), true, "\x00\xff", nil},
		{"binary with datacontenttype", inBinary("x", headersOfShop("ce_datacontenttype=image/png")...), true, "x", nil},
		{"binary with text that needs encoding", inBinary("v", headersOfShop("ce_subject=größe 1", "content-type=text/plain")...), false, "v", nil},
		{"binary that came by another topic", inBinary("v", headersOfShop("ce_kafkaoffset=99", "ce_kafkatopic=other", "content-type=text/plain")...), true, "v", nil},
		{"binary with an empty attribute", inBinary("v", headersOfShop("ce_subject=", "content-type=text/plain")...), true, "v", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, req := single(t, c.record)
			checkHeader(t, req)
			events, batched := batch(t, run(c.record), run(at("a", 0, 1, 1)))
			if len(events) != 2 {
				t.Fatalf("%d events: %s", len(events), batched.Body)
			}
			if binary := req.value("Ce-Id") != ""; binary != c.binary {
				t.Errorf("binary is %v: %v", binary, req.Header)
			}
			for _, e := range []*cloudevents.Event{e, &events[0]} {
				checkShop(t, e, c.record)
				if string(e.Data()) != c.data {
					t.Errorf("data %q, want %q", e.Data(), c.data)
				}
				for name, want := range c.ext {
					if got := extension(e, name); got != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
			}
		})
	}
	t.Run("a binary event without value has no data", func(t *testing.T) {
		r := inBinary("", headersOfShop("content-type=text/plain")...)
		r.Value = nil
		e, req := single(t, r)
		checkShop(t, e, r)
		if e.DataContentType() != "" || e.Data() != nil || len(req.Body) != 0 {
			t.Errorf("event %v", e)
		}
	})
}

func TestWhatIsNoEventIsWrapped(t *testing.T) {
	document := func(members string) *record.Record { return structured(`{` + shop + `,` + members + `}`) }
	for name, r := range map[string]*record.Record{
		"no JSON":                      structured(`{`),
		"no object":                    structured(`[{` + shop + `}]`),
		"nothing":                      structured(""),
		"bytes that are not UTF-8":     document("\"s\":\"\xff\""),
		"an attribute is missing":      structured(`{"specversion":"1.0","id":"1","source":"/s"}`),
		"an attribute is null":         structured(`{"specversion":"1.0","id":null,"source":"/s","type":"t"}`),
		"an attribute is empty":        structured(`{"specversion":"1.0","id":"","source":"/s","type":"t"}`),
		"an attribute is blank":        structured(`{"specversion":"1.0","id":" ","source":"/s","type":"t"}`),
		"an attribute is a number":     structured(`{"specversion":"1.0","id":1,"source":"/s","type":"t"}`),
		"another version":              structured(`{"specversion":"0.3","id":"1","source":"/s","type":"t"}`),
		"a source that is none":        structured(`{"specversion":"1.0","id":"1","source":"a b","type":"t"}`),
		"an attribute twice":           document(`"id":"2"`),
		"a time that is none":          document(`"time":"yesterday"`),
		"a media type that is none":    document(`"datacontenttype":"json"`),
		"a schema that is relative":    document(`"dataschema":"/schema"`),
		"a name that is none":          document(`"a_b":"1"`),
		"an object as an attribute":    document(`"a":{}`),
		"a fraction as an attribute":   document(`"a":1.5`),
		"a large number":               document(`"a":2147483648`),
		"a control character":          document(`"a":"\u0007"`),
		"a noncharacter":               document(`"a":"\ufffe"`),
		"data twice":                   document(`"data":1,"data_base64":"AA=="`),
		"base64 that is none":          document(`"data_base64":"?"`),
		"base64 in an array":           document(`"data_base64":["AA=="]`),
		"an object that is no JSON":    document(`"datacontenttype":"text/plain","data":{}`),
		"binary, a header missing":     inBinary("v", shopHeaders[:3]...),
		"binary, a header twice":       inBinary("v", headersOfShop("ce_id=2")...),
		"binary, another version":      inBinary("v", append([]string{"ce_specversion=0.3"}, shopHeaders[1:]...)...),
		"binary, a name that is none":  inBinary("v", headersOfShop("ce_A=1")...),
		"binary, data as a name":       inBinary("v", headersOfShop("ce_data=1")...),
		"binary, control characters":   inBinary("v", headersOfShop("ce_a=1\r\nX-Evil: 1")...),
		"binary, bytes":                inBinary("v", headersOfShop("ce_a=\xff")...),
		"binary, a type that is none":  inBinary("v", headersOfShop("content-type=text")...),
		"a batch":                      inBinary("[]", headersOfShop("content-type=application/cloudevents-batch+json")...),
		"an event in another encoding": inBinary("x", headersOfShop("content-type=application/cloudevents+avro")...),
	} {
		t.Run(name, func(t *testing.T) {
			e, req := single(t, r)
			checkHeader(t, req)
			checkWrapped(t, e, r)
			events, _ := batch(t, run(r), run(at("a", 0, 1, 1)))
			if len(events) != 2 {
				t.Fatalf("%d events", len(events))
			}
			checkWrapped(t, &events[0], r)
		})
	}
}
