package invoke

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

func raw(r *record.Record) *Request {
	req := &Request{Body: []byte{}}
	NewRawEncoder().Encode(req, []record.Run{run(r)})
	return req
}

// value is the value of a header; "" where there is none.
func (r *Request) value(name string) string {
	for _, h := range r.Header {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

func TestRaw(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(r *record.Record)
		want    map[string]string
		without []string
	}{
		{"a value without anything", func(*record.Record) {}, map[string]string{
			"Content-Type": "application/octet-stream", "Sluice-Topic": "orders", "Sluice-Partition": "3", "Sluice-Offset": "15", "Sluice-Timestamp": "1796033701000",
		}, []string{"Sluice-Key", "Sluice-Tombstone", "Sluice-Headers", "Sluice-Headers-Omitted", "Sluice-Key-Omitted"}},
		{"an empty value is not a tombstone", func(r *record.Record) { r.Value = []byte{} }, nil, []string{"Sluice-Tombstone"}},
		{"a tombstone", func(r *record.Record) { r.Value = nil }, map[string]string{"Sluice-Tombstone": "true"}, nil},
		{"a key", func(r *record.Record) { r.Key = []byte(`a%b "é"` + "\x00\r\n~") }, map[string]string{"Sluice-Key": "a%25b%20%22%C3%A9%22%00%0D%0A~"}, nil},
		{"a key of nothing", func(r *record.Record) { r.Key = []byte{} }, map[string]string{"Sluice-Key": ""}, nil},
		{"headers of every sort, in order", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "b", Value: []byte("1")}, {Key: "A b", Value: []byte("x&y=\xff\n")}, {Key: "b"}, {Key: "b", Value: []byte{}}}
		}, map[string]string{"Sluice-Headers": "b=1&A%20b=x%26y%3D%FF%0A&b&b="}, nil},
		{"a content type", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "Content-Type", Value: []byte(`text/csv; charset="utf-8"`)}, {Key: "n", Value: []byte("5")}}
		}, map[string]string{"Content-Type": `text/csv; charset="utf-8"`, "Sluice-Headers": "n=5"}, nil},
		{"the last content type counts", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "content-type", Value: []byte("text/csv")}, {Key: "content-type", Value: []byte("image/png")}}
		}, map[string]string{"Content-Type": "image/png", "Sluice-Headers": "content-type=text%2Fcsv"}, nil},
		{"a content type that is none", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "content-type", Value: []byte("text/csv\r\nX-Evil: 1")}}
		}, map[string]string{"Content-Type": "application/octet-stream", "Sluice-Headers": "content-type=text%2Fcsv%0D%0AX-Evil%3A%201"}, nil},
		{"a word is no content type", func(r *record.Record) {
			r.Headers = []kgo.RecordHeader{{Key: "content-type", Value: []byte("json")}}
		}, map[string]string{"Content-Type": "application/octet-stream"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := at("orders", 3, 15, 1796033701000)
			r.Value = []byte("v\x00\xff")
			c.change(r)
			req := raw(r)
			if !bytes.Equal(req.Body, r.Value) {
				t.Errorf("body %q, want %q", req.Body, r.Value)
			}
			for name, want := range c.want {
				if got := req.value(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			for _, name := range c.without {
				if got := req.value(name); got != "" {
					t.Errorf("%s: %q, want none", name, got)
				}
			}
			checkHeader(t, req)
		})
	}
}

// Fault 118: repeated keys, empty and null values and bytes of every kind survive.
func TestRawHeadersAreByteEqual(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 9))
		r := at("t", 0, 1, 1)
		for range rng.IntN(20) {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: string(randomBytes(rng)), Value: randomBytes(rng)})
		}
		checkFields(t, raw(r).value("Sluice-Headers"), r.Headers)
	}
}

// checkFields reads fields as docs/FUNCTIONS.md says.
func checkFields(t *testing.T, fields string, want []kgo.RecordHeader) {
	t.Helper()
	var got []kgo.RecordHeader
	if fields != "" {
		for _, field := range strings.Split(fields, "&") {
			name, value, valued := strings.Cut(field, "=")
			h := kgo.RecordHeader{}
			var err1, err2 error
			h.Key, err1 = url.QueryUnescape(name)
			if valued {
				var text string
				text, err2 = url.QueryUnescape(value)
				h.Value = []byte(text)
			}
			if err1 != nil || err2 != nil {
				t.Fatalf("field %q: %v, %v", field, err1, err2)
			}
			got = append(got, h)
		}
	}
	if !slices.EqualFunc(got, want, func(a, b kgo.RecordHeader) bool {
		return a.Key == b.Key && bytes.Equal(a.Value, b.Value) && ((a.Value == nil) == (b.Value == nil) || a.Key == "")
	}) {
		t.Errorf("headers %q came as %s", want, fields)
	}
}

func TestRawHeadersAreBounded(t *testing.T) {
	long := func(n int) []byte { return bytes.Repeat([]byte("k"), n) }
	for _, c := range []struct {
		name         string
		key          []byte
		headers      []int // bytes of each value
		omitted      string
		keyIsOmitted bool
		fields       int
	}{
		{"many small ones", []byte("k"), slices.Repeat([]int{10}, 10_000), "", false, -1},
		{"a large one among small ones", []byte("k"), []int{5, 1 << 20, 5}, "1", false, 2},
		{"all of them large", []byte("k"), []int{1 << 20, 1 << 20}, "2", false, 0},
		{"a large key", long(1 << 20), []int{5}, "", true, 1},
		{"a key that nearly takes all", long(5600), []int{5, 500}, "1", false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := at(strings.Repeat("t", 249), 0, 1<<62, 1796033701000)
			r.Key = c.key
			for i, n := range c.headers {
				r.Headers = append(r.Headers, kgo.RecordHeader{Key: fmt.Sprint("h", i), Value: long(n)})
			}
			req := raw(r)
			checkHeader(t, req)
			fields := 0
			if text := req.value("Sluice-Headers"); text != "" {
				fields = 1 + strings.Count(text, "&")
			}
			omitted, _ := strconv.Atoi(req.value("Sluice-Headers-Omitted"))
			if fields+omitted != len(c.headers) {
				t.Errorf("%d fields and %d omitted of %d", fields, omitted, len(c.headers))
			}
			if c.fields >= 0 && (fields != c.fields || req.value("Sluice-Headers-Omitted") != c.omitted) {
				t.Errorf("%d fields, omitted %q", fields, req.value("Sluice-Headers-Omitted"))
			}
			if (req.value("Sluice-Key-Omitted") == "true") != c.keyIsOmitted || (req.value("Sluice-Key") == "") != c.keyIsOmitted {
				t.Errorf("key %.20q, omitted %q", req.value("Sluice-Key"), req.value("Sluice-Key-Omitted"))
			}
		})
	}
}

var token = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(-[A-Z][A-Za-z0-9]*)*$`)

// checkHeader holds that the headers can be sent: names are tokens and stand once, values are printable ASCII without
// blanks around them, and all of them stay within the bound.
func checkHeader(t *testing.T, req *Request) {
	t.Helper()
	size, seen := 0, map[string]bool{}
	for _, h := range req.Header {
		size += h.size()
		if !token.MatchString(h.Name) {
			t.Errorf("name %q", h.Name)
		}
		if strings.Trim(h.Value, " ") != h.Value || strings.ContainsFunc(h.Value, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%s: %q", h.Name, h.Value)
		}
		if seen[h.Name] {
			t.Errorf("%s stands twice", h.Name)
		}
		seen[h.Name] = true
	}
	if size > HeaderBytesMax {
		t.Errorf("headers of %d bytes", size)
	}
}

func TestRawIsForOneRecord(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "given 2, in 1 runs") {
			t.Errorf("panic says %v", r)
		}
	}()
	NewRawEncoder().Encode(&Request{}, []record.Run{run(at("t", 0, 1, 1), at("t", 0, 2, 1))})
}

// FuzzRaw: whatever a record holds, its headers can be sent and read back.
func FuzzRaw(f *testing.F) {
	f.Add("orders", int32(0), int64(15), int64(1796033701000), []byte("k"), []byte("v"), "trace", []byte{1, 200}, uint8(16))
	f.Add("o\r\n", int32(-1), int64(-1), int64(-1), []byte("\r\nX-Evil: 1\x00"), []byte{}, "content-type", []byte("text/plain; a=\"\r\n\""), uint8(51))
	f.Fuzz(func(t *testing.T, topic string, partition int32, offset, millis int64, key, value []byte, name string, header []byte, flags uint8) {
		if len(topic) > 249 { // Kafka's bound
			topic = topic[:249]
		}
		r := fuzzed(topic, partition, offset, millis, key, value, name, header, flags)
		req := raw(r)
		checkHeader(t, req)
		if !bytes.Equal(req.Body, r.Value) || len(req.Body) != NewRawEncoder().RecordSize(r) {
			t.Errorf("body %q of %q", req.Body, r.Value)
		}
		for name, want := range map[string]string{"Sluice-Topic": topic, "Sluice-Key": string(key)} {
			got, err := url.PathUnescape(req.value(name))
			if err != nil || got != want && (name != "Sluice-Key" || r.Key != nil && req.value("Sluice-Key-Omitted") == "") {
				t.Errorf("%s: %q, %v, want %q", name, got, err, want)
			}
		}
		if req.value("Sluice-Headers-Omitted") != "" {
			return
		}
		want := r.Headers
		if _, i := contentType(r); i >= 0 {
			want = slices.Delete(slices.Clone(want), i, i+1)
		}
		checkFields(t, req.value("Sluice-Headers"), want)
	})
}

// fuzzed makes a record of what a fuzzer draws: bits 0 and 1 of flags take away key and value, the upper four count the
// headers.
func fuzzed(topic string, partition int32, offset, millis int64, key, value []byte, name string, header []byte, flags uint8) *record.Record {
	r := at(topic, partition, offset, millis)
	r.Key, r.Value = key, value
	if flags&1 != 0 {
		r.Key = nil
	}
	if flags&2 != 0 {
		r.Value = nil
	}
	for i := range flags >> 4 {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: name, Value: header})
		if i%2 == 1 {
			r.Headers[i].Value = nil
		}
	}
	return r
}
