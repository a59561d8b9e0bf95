package invoke

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

var traceparent = []kgo.RecordHeader{{Key: "traceparent", Value: []byte("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")}}

func benchRuns(size int, headers []kgo.RecordHeader) []record.Run {
	var runs []record.Run
	for p := range int32(4) {
		var recs []*record.Record
		for i := range int64(25) {
			r := at("orders", p, 1_000_000+i, 1796033701000+i)
			r.Key, r.Value, r.Headers = []byte("order-1234"), make([]byte, size), headers
			for j := range r.Value {
				r.Value[j] = byte(rand.Uint32())
			}
			recs = append(recs, r)
		}
		runs = append(runs, run(recs...))
	}
	return runs
}

// BenchmarkAppend encodes batches of 100 records over 4 partitions; ns/record is the number to watch.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{100, 1 << 10, 10 << 10} {
		for name, headers := range map[string][]kgo.RecordHeader{"none": nil, "traceparent": traceparent} {
			b.Run(fmt.Sprintf("value=%d/headers=%s", size, name), func(b *testing.B) {
				enc, runs := NewEncoder(Source{BootstrapServers: broker}), benchRuns(size, headers)
				buf := enc.Append(nil, runs)
				b.SetBytes(int64(size) * 100)
				b.ReportAllocs()
				for b.Loop() {
					buf = enc.Append(buf[:0], runs)
				}
				perRecord(b)
			})
		}
	}
}

// BenchmarkBareBase64 is what the same values cost in encoding/base64 alone.
func BenchmarkBareBase64(b *testing.B) {
	for _, size := range []int{100, 1 << 10, 10 << 10} {
		b.Run(fmt.Sprintf("value=%d", size), func(b *testing.B) {
			runs := benchRuns(size, nil)
			var buf []byte
			b.SetBytes(int64(size) * 100)
			for b.Loop() {
				buf = buf[:0]
				for i := range runs {
					for _, r := range runs[i].Records {
						buf = base64.StdEncoding.AppendEncode(buf, r.Value)
					}
				}
			}
			perRecord(b)
		})
	}
}

func BenchmarkRecordSize(b *testing.B) {
	for name, headers := range map[string][]kgo.RecordHeader{"none": nil, "traceparent": traceparent} {
		b.Run("headers="+name, func(b *testing.B) {
			enc, runs := NewEncoder(Source{}), benchRuns(1<<10, headers)
			n := 0
			for b.Loop() {
				for i := range runs {
					for _, r := range runs[i].Records {
						n += enc.RecordSize(r)
					}
				}
			}
			perRecord(b)
		})
	}
}

func perRecord(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/record")
}

// BenchmarkPayloads encodes single records of 1 KiB of JSON in each form: planning and writing, as a poller does it.
func BenchmarkPayloads(b *testing.B) {
	value := []byte(`{"orderId":"order-1234","text":"` + strings.Repeat("x", 990) + `"}`)
	r := at("orders", 0, 1_000_000, 1796033701000)
	r.Key, r.Value, r.Headers = []byte("order-1234"), value, traceparent
	runs := []record.Run{run(r)}
	for name, e := range map[string]interface {
		RecordSize(r *record.Record) int
		Encode(req *Request, runs []record.Run)
	}{
		"lambda": NewEncoder(Source{BootstrapServers: broker}), "raw": NewRawEncoder(),
		"cloudevents/single": NewCloudEventsEncoder("main", true), "cloudevents/batch": NewCloudEventsEncoder("main", false),
	} {
		b.Run(name, func(b *testing.B) {
			var req Request
			b.ReportAllocs()
			for b.Loop() {
				_ = e.RecordSize(r)
				req.Body = req.Body[:0]
				e.Encode(&req, runs)
			}
		})
	}
}
