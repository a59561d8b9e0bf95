//go:build real

package conformance

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// Product contract, «Scaling»: 5 MB/s and 5 invocations a poller. Measured at the function, from the outside, over 30 s.
func TestPollerCaps(t *testing.T) {
	c := kafkatest.Shared(t)
	const size, records, partitions = 20_000, 24_000, 8
	topic := c.Name("caps")
	c.CreateTopic(topic, partitions, nil)
	noise := rand.NewChaCha8([32]byte{1})
	for from := 0; from < records; from += 1000 {
		var recs []*kgo.Record
		for i := range 1000 {
			value := make([]byte, size)
			_, _ = noise.Read(value)
			recs = append(recs, &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: value})
		}
		c.Produce(recs...)
	}
	for pollers := 1; pollers <= 2; pollers++ {
		t.Run(fmt.Sprintf("%d pollers", pollers), func(t *testing.T) {
			var got, now, most atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				n := now.Add(1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				body, _ := io.ReadAll(req.Body)
				time.Sleep(200 * time.Millisecond)
				now.Add(-1)
				got.Add(int64(bytes.Count(body, []byte(`"offset":`))))
			}))
			defer server.Close()
			r := &rig{t: t, cluster: c, topic: topic, group: record.GroupID(fmt.Sprintf("%s-%d", topic, pollers))}
			yaml := fmt.Sprintf(`
server: {listen: '127.0.0.1:0'}
clusters: {main: {bootstrapServers: ['%s']}}
functions: {sink: {url: '%s'}}
mappings:
  - {name: caps, function: sink, cluster: main, topics: [%s], consumerGroupId: %s, batchSize: 20,
     provisionedPollerConfig: {minimumPollers: %d, maximumPollers: %d}}
`, strings.Join(c.Bootstrap(), "','"), server.URL, topic, r.group, pollers, pollers)
			p := start(t, yaml)
			p.until("records flow", 30*time.Second, func() bool { return got.Load() > 0 })
			time.Sleep(2 * time.Second)
			before, began := got.Load(), time.Now()
			time.Sleep(30 * time.Second)
			rate := float64(got.Load()-before) * size / time.Since(began).Seconds() / 1e6
			throttled := p.status().Throttled
			p.stop()
			want := 5 * float64(pollers)
			t.Logf("kafka %s: %d pollers: %.2f MB/s (want %.0f within 5 %%), at most %d invocations at once; status says %q",
				c.Version(), pollers, rate, want, most.Load(), throttled)
			if rate < want*.95 || rate > want*1.05 {
				t.Errorf("%.2f MB/s", rate)
			}
			if most.Load() > int64(5*pollers) {
				t.Errorf("%d invocations at once", most.Load())
			}
			if !strings.Contains(throttled, "throttled by pollerLimits") {
				t.Errorf("status says %q", throttled)
			}
		})
	}
}
