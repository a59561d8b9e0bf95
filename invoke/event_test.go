package invoke

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

var broker = []string{"broker1.example.com:9092", "broker2.example.com:9092"}

func at(topic string, partition int32, offset, millis int64) *record.Record {
	return &record.Record{Topic: topic, Partition: partition, Offset: offset, Timestamp: time.UnixMilli(millis)}
}

// logAppend is a record whose attributes say LOG_APPEND_TIME. The client sets attributes only from the wire.
func logAppend(t testing.TB, r *record.Record) *record.Record {
	t.Helper()
	if r.Attrs.TimestampType() == 1 {
		t.Fatal("unexpected")
	}
	setLogAppendTime(r)
	if r.Attrs.TimestampType() != 1 {
		t.Fatal("the client's attributes have another shape now")
	}
	return r
}

func run(records ...*record.Record) record.Run {
	return record.Run{
		TopicPartition: record.TopicPartition{Topic: records[0].Topic, Partition: records[0].Partition},
		Records:        records,
	}
}

// TestGolden pins the documented events (AWS, event structure).
func TestGolden(t *testing.T) {
	order := at("orders", 0, 15, 1796033701000)
	order.Key, order.Value = []byte("order-17"), []byte(`{"orderId":"order-17","status":"NEW","total":42}`)
	order.Headers = []kgo.RecordHeader{{Key: "trace", Value: []byte("trace")}}
	withCity := *order
	withCity.Headers = append(order.Headers[:1:1], kgo.RecordHeader{Key: "city", Value: []byte("é")})
	plainText := logAppend(t, at("orders", 3, 42, 1796033703000))
	plainText.Value = []byte("plain text value")

	for _, c := range []struct {
		file   string
		source Source
		runs   []record.Run
	}{
		{"self-managed.json", Source{BootstrapServers: broker}, []record.Run{run(&withCity), run(plainText)}},
		{"msk.json", Source{
			EventSource:      MSK,
			EventSourceARN:   "arn:aws:kafka:us-west-2:111122223333:cluster/demo/0a1b2c3d-1111-2222-3333-444455556666-7",
			BootstrapServers: []string{"b-1.demo.example.com:9092", "b-2.demo.example.com:9092"},
		}, []record.Run{run(order)}},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			var want bytes.Buffer
			if err := json.Compact(&want, text); err != nil {
				t.Fatal(err)
			}
			if got := NewEncoder(c.source).Append(nil, c.runs); !bytes.Equal(got, want.Bytes()) {
				t.Errorf("event\n%s\nwant\n%s", got, want.Bytes())
			}
		})
	}
}

// TestHowAFieldIsWritten pins the rules for single members.
func TestHowAFieldIsWritten(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(r *record.Record)
		want    []string
		without []string
	}{
		{"a null key leaves the member out", func(r *record.Record) { r.Value = []byte("v") }, []string{`"CREATE_TIME","value":"dg=="`}, []string{`"key"`}},
		{"an empty key is an empty string", func(r *record.Record) { r.Key = []byte{} }, []string{`"key":"",`}, nil},
		{"a tombstone has the value null", func(r *record.Record) { r.Key = []byte("k") }, []string{`"key":"aw==","value":null,`}, nil},
		{"an empty value is an empty string", func(r *record.Record) { r.Value = []byte{} }, []string{`"value":"",`}, nil},
		{"no headers are an empty array", func(*record.Record) {}, []string{`"headers":[]}`}, nil},
		{"header bytes are signed", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "h", Value: []byte{0, 1, 127, 128, 255, 0xe9}}}
		}, []string{`{"h":[0,1,127,-128,-1,-23]}`}, nil},
		{"a null header value is an empty array", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "h"}, {Key: "h", Value: []byte{}}}
		}, []string{`"headers":[{"h":[]},{"h":[]}]`}, nil},
		{"repeated header keys stay, in order", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "a", Value: []byte{1}}, {Key: "b", Value: []byte{2}}, {Key: "a", Value: []byte{3}}}
		}, []string{`[{"a":[1]},{"b":[2]},{"a":[3]}]`}, nil},
		{"a header key that is not UTF-8 is mended", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "a\xffb\"\x01", Value: []byte{1}}}
		}, []string{`{"a\ufffdb\"\u0001":[1]}`}, nil},
		{"a record without timestamp type is CREATE_TIME", func(r *record.Record) {}, []string{`"timestampType":"CREATE_TIME"`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := at("t", 0, 1, 1)
			c.change(r)
			got := string(NewEncoder(Source{}).Append(nil, []record.Run{run(r)}))
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("event %s\nlacks %s", got, w)
				}
			}
			for _, w := range c.without {
				if strings.Contains(got, w) {
					t.Errorf("event %s\nholds %s", got, w)
				}
			}
		})
	}
}

// TestStrings holds our escaping against encoding/json's.
func TestStrings(t *testing.T) {
	cases := []string{"", "orders", "a.b_c-d", "é", "日本", "\u2028\u2029", "<&>", "\x7f", "\"\\/\b\f\n\r\t\x00\x1f", "\xff", "a\xc3", "\xed\xa0\x80", "\ufffd", "😀"}
	for i := range 256 {
		cases = append(cases, string([]byte{byte(i)}), string([]byte{'x', byte(i), 0x80}))
	}
	for _, s := range cases {
		checkString(t, s)
	}
}

func checkString(t *testing.T, s string) {
	t.Helper()
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	got := appendString(nil, s)
	if w := bytes.TrimSuffix(want.Bytes(), []byte("\n")); !bytes.Equal(got, w) {
		t.Errorf("%q is written as %s, want %s", s, got, w)
	}
	if n := stringLen(s); n != len(got) {
		t.Errorf("%q: stringLen %d, written %d bytes", s, n, len(got))
	}
}

func TestBase64(t *testing.T) {
	for n := range 300 {
		src := make([]byte, n)
		for i := range src {
			src[i] = byte(rand.Uint32())
		}
		got, want := appendBase64([]byte("x"), src), base64.StdEncoding.AppendEncode([]byte("x"), src)
		if !bytes.Equal(got, want) {
			t.Fatalf("%x: %s, want %s", src, got, want)
		}
		if base64Len(n) != len(want)-1 {
			t.Fatalf("base64Len(%d) = %d", n, base64Len(n))
		}
	}
}

func TestDecimalLen(t *testing.T) {
	for _, v := range []int64{0, 1, 9, 10, 99, 100, 999, 1000, 9999, 10000, 99999, 1796033701000, 1<<63 - 1, -1, -9, -10, -9999, -10000, -1 << 63} {
		if got, want := decimalLen(v), len(fmt.Sprint(v)); got != want {
			t.Errorf("decimalLen(%d) = %d, want %d", v, got, want)
		}
	}
}

// TestRoundTrip reads random events with the type that Go functions use and compares every byte: keys and values
// null, empty and binary, 100 random header lists with repeated, empty and binary members.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 3))
		checkRoundTrip(t, randomRuns(rng, 1+rng.IntN(8), 1+rng.IntN(5)))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomRuns(rng *rand.Rand, partitions, records int) []record.Run {
	var runs []record.Run
	for p := range partitions {
		var recs []*record.Record
		offset := rng.Int64N(1 << 40)
		for range records {
			r := at(fmt.Sprintf("topic.%d", p%3), int32(p), offset, rng.Int64N(1<<41))
			offset += 1 + rng.Int64N(3)
			r.Key, r.Value = randomBytes(rng), randomBytes(rng)
			for range rng.IntN(6) {
				r.Headers = append(r.Headers, kgo.RecordHeader{Key: []string{"", "a", "trace-id", "ключ", "\xff", "q\"\n"}[rng.IntN(6)], Value: randomBytes(rng)})
			}
			if rng.IntN(2) == 0 {
				setLogAppendTime(r)
			}
			recs = append(recs, r)
		}
		cut := rng.IntN(len(recs)) // the records of a partition may come in several runs
		if cut > 0 {
			runs = append(runs, run(recs[:cut]...))
		}
		runs = append(runs, run(recs[cut:]...))
	}
	return runs
}

func randomBytes(rng *rand.Rand) []byte {
	n := rng.IntN(40) - 1
	if n < 0 {
		return nil
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func checkRoundTrip(t *testing.T, runs []record.Run) {
	t.Helper()
	enc := NewEncoder(Source{BootstrapServers: broker})
	text := enc.Append(nil, runs)
	checkSize(t, enc, runs, len(text))

	var ev events.KafkaEvent
	if err := json.Unmarshal(text, &ev); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if ev.EventSource != "SelfManagedKafka" || ev.EventSourceARN != "" || ev.BootstrapServers != strings.Join(broker, ",") {
		t.Errorf("event says source %q, ARN %q, servers %q", ev.EventSource, ev.EventSourceARN, ev.BootstrapServers)
	}
	seen := map[string]int{}
	for i := range runs {
		key := mended(runs[i].String())
		for _, r := range runs[i].Records {
			if seen[key] >= len(ev.Records[key]) {
				t.Fatalf("%s has %d records in the event", key, len(ev.Records[key]))
			}
			checkRecord(t, r, &ev.Records[key][seen[key]])
			seen[key]++
		}
	}
	for key, list := range ev.Records {
		if seen[key] != len(list) {
			t.Errorf("%s has %d records in the event, want %d", key, len(list), seen[key])
		}
	}
}

func checkSize(t *testing.T, enc *Encoder, runs []record.Run, got int) {
	t.Helper()
	want := enc.Overhead()
	for i := range runs {
		if i == 0 || runs[i].TopicPartition != runs[i-1].TopicPartition {
			want += enc.RunOverhead(runs[i].TopicPartition)
		}
		for _, r := range runs[i].Records {
			want += enc.RecordSize(r)
		}
	}
	if got != want {
		t.Errorf("event has %d bytes, planned %d", got, want)
	}
	if exact := enc.Append(make([]byte, 0, want), runs); cap(exact) != want {
		t.Errorf("an event of %d bytes did not fit its exact room", want)
	}
}

func checkRecord(t *testing.T, r *record.Record, got *events.KafkaRecord) {
	t.Helper()
	if got.Topic != mended(r.Topic) || got.Partition != int64(r.Partition) || got.Offset != r.Offset || !got.Timestamp.Equal(r.Timestamp) {
		t.Errorf("record %+v, want %s-%d@%d %v", got, r.Topic, r.Partition, r.Offset, r.Timestamp)
	}
	if wantType := map[int8]string{-1: "CREATE_TIME", 0: "CREATE_TIME", 1: "LOG_APPEND_TIME"}[r.Attrs.TimestampType()]; got.TimestampType != wantType {
		t.Errorf("timestampType %q, want %q", got.TimestampType, wantType)
	}
	if want := base64.StdEncoding.EncodeToString(r.Key); got.Key != want {
		t.Errorf("key %q, want %q", got.Key, want)
	}
	if want := base64.StdEncoding.EncodeToString(r.Value); got.Value != want {
		t.Errorf("value %q, want %q", got.Value, want)
	}
	if len(got.Headers) != len(r.Headers) {
		t.Fatalf("%d headers, want %d", len(got.Headers), len(r.Headers))
	}
	for i, h := range r.Headers {
		value, ok := got.Headers[i][mended(h.Key)]
		if !ok || len(got.Headers[i]) != 1 || !bytes.Equal(value, h.Value) {
			t.Errorf("header %d is %v, want %q=%x", i, got.Headers[i], h.Key, h.Value)
		}
	}
}

// mended is s with every byte that is not UTF-8 replaced, one by one, as JSON writers in Go do.
func mended(s string) string {
	return string([]rune(s))
}

func TestAPartitionInTwoPlacesPanics(t *testing.T) {
	enc := NewEncoder(Source{})
	var many []record.Run
	for p := range int32(3000) { // far over the bits of the check
		many = append(many, run(at("t", p, 1, 1)))
	}
	enc.Append(nil, many)

	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "t-7 stands twice in one event, in runs 7 and 3000 of 3001") {
			t.Errorf("panic says %v", r)
		}
	}()
	enc.Append(nil, append(many, run(at("t", 7, 2, 1))))
}

func TestEncodingDoesNotAllocate(t *testing.T) {
	enc, runs := NewEncoder(Source{BootstrapServers: broker}), randomRuns(rand.New(rand.NewPCG(1, 1)), 5, 20)
	buf := enc.Append(nil, runs)
	if n := testing.AllocsPerRun(20, func() { buf = enc.Append(buf[:0], runs) }); n != 0 {
		t.Errorf("Append allocates %v times", n)
	}
	req := Request{Body: buf}
	var seam interface{ Encode(*Request, []record.Run) } = enc // as the poller calls it
	if n := testing.AllocsPerRun(20, func() { req.Body = req.Body[:0]; seam.Encode(&req, runs) }); n != 0 {
		t.Errorf("Encode allocates %v times", n)
	}
	total := 0
	if n := testing.AllocsPerRun(20, func() {
		for i := range runs {
			total += enc.RunOverhead(runs[i].TopicPartition)
			for _, r := range runs[i].Records {
				total += enc.RecordSize(r)
			}
		}
	}); n != 0 {
		t.Errorf("planning allocates %v times", n)
	}
}

func FuzzEventRoundTrip(f *testing.F) {
	f.Add("orders", int32(0), int64(15), int64(1796033701000), []byte("k"), []byte("v"), "trace", []byte{1, 200}, uint8(0))
	f.Add("\xff\"", int32(-1), int64(-1), int64(-1), []byte{}, []byte{}, "\xed\xa0\x80", []byte{}, uint8(7))
	f.Fuzz(func(t *testing.T, topic string, partition int32, offset, millis int64, key, value []byte, hkey string, hvalue []byte, flags uint8) {
		millis %= 1 << 52 // aws-lambda-go multiplies milliseconds into nanoseconds and back
		if millis > 1<<43 || millis < -1<<43 {
			millis %= 1 << 43
		}
		r := at(topic, partition, offset, millis)
		r.Key, r.Value = key, value
		if flags&1 != 0 {
			r.Key = nil
		}
		if flags&2 != 0 {
			r.Value = nil
		}
		for range flags >> 4 {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: hkey, Value: hvalue})
		}
		checkString(t, topic)
		checkRoundTrip(t, []record.Run{run(r), run(at("other", 1, 2, 3)), run(at("other", 1, 3, 3))})
	})
}
