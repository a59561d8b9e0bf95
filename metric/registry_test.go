package metric_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/record"
)

// page scrapes the registry and returns its sluice_ lines.
func page(t *testing.T, r *metric.Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("scrape: %d %v\n%s", w.Code, err, body)
	}
	var b strings.Builder
	for _, line := range strings.SplitAfter(string(body), "\n") {
		if strings.HasPrefix(line, "sluice_") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// series counts what a scrape gives of one mapping, or of all for "".
func series(t *testing.T, g prometheus.Gatherer, mapping string) int {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if l.GetName() == "mapping" && (mapping == "" || l.GetValue() == mapping) {
					n++
				}
			}
		}
	}
	return n
}

func TestAMappingsNumbersReachThePage(t *testing.T) {
	r := metric.New()
	r.Build("v1.2.3", "abc")
	m := r.Mapping("orders")
	if r.Mapping("orders") != m {
		t.Fatal("the handles of a mapping must stay the same")
	}
	m.Polled.Add(10)
	m.Polled.Add(5)
	m.GroupProtocol.Set("consumer")
	m.InvokeErrors.Inc("Throttled")
	m.InvokeErrors.Inc("Throttled")
	m.InvokeErrors.Inc("")
	m.InvokeDuration.Observe(20 * time.Millisecond)
	m.BatchRecords.Observe(100)
	m.Pollers.Set(3)
	m.Ready.SetBool(true)
	m.ThrottledTime.Add(1500 * time.Millisecond)
	m.SetLag([]metric.PartitionLag{{record.TopicPartition{Topic: "orders", Partition: 3}, 40}, {record.TopicPartition{Topic: "orders", Partition: 4}, 2}})
	m.SetStalled([]metric.PartitionStall{{record.TopicPartition{Topic: "orders", Partition: 3}, 90 * time.Second}})

	got := page(t, r)
	for _, want := range []string{
		`sluice_polled_event_count_total{mapping="orders"} 15`,
		`sluice_invoke_error_count_total{kind="Throttled",mapping="orders"} 2`,
		`sluice_invoke_error_count_total{kind="Other",mapping="orders"} 1`,
		`sluice_invocation_duration_seconds_bucket{mapping="orders",le="0.025"} 1`,
		`sluice_batch_records_sum{mapping="orders"} 100`,
		`sluice_pollers{mapping="orders"} 3`,
		`sluice_ready{mapping="orders"} 1`,
		`sluice_throttled_seconds_total{mapping="orders"} 1.5`,
		`sluice_sum_offset_lag{mapping="orders"} 42`,
		`sluice_max_offset_lag{mapping="orders"} 40`,
		`sluice_offset_lag{mapping="orders",partition="3",topic="orders"} 40`,
		`sluice_partition_stalled_seconds{mapping="orders",partition="3",topic="orders"} 90`,
		`sluice_group_protocol_info{mapping="orders",protocol="consumer"} 1`,
		`sluice_build_info{commit="abc",version="v1.2.3"} 1`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("the page lacks %s", want)
		}
	}
	s := m.Snapshot()
	if s.Polled != 15 || s.InvokeErrors != 3 || s.ThrottledTime != 1500*time.Millisecond {
		t.Errorf("snapshot: %+v", s)
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestUnknownLagIsAbsentRatherThanZero(t *testing.T) {
	r := metric.New()
	m := r.Mapping("orders")
	m.SetLag([]metric.PartitionLag{{record.TopicPartition{Topic: "orders"}, 7}})
	m.SetLagUnknown()
	if got := page(t, r); strings.Contains(got, "offset_lag{mapping") {
		t.Errorf("lag is shown though unknown:\n%s", got)
	}
}

// Faults of others: metric objects leaked at every commit and rebalance.
func TestRemovedMappingsAndPartitionsLeaveNoSeries(t *testing.T) {
	r := metric.New()
	r.Mapping("stays").Polled.Add(1)
	before := series(t, r.Gatherer(), "")
	for i := range 1000 {
		m := r.Mapping(fmt.Sprintf("m%d", i%10))
		m.PollingErrors.Inc("NOT_COORDINATOR")
		m.SetLag([]metric.PartitionLag{{record.TopicPartition{Topic: "t", Partition: int32(i)}, 1}})
		m.SetStalled([]metric.PartitionStall{{record.TopicPartition{Topic: "t", Partition: int32(i)}, 0}})
		if i%100 == 0 {
			page(t, r)
		}
		if i%10 == 9 {
			for j := range 10 {
				r.Remove(fmt.Sprintf("m%d", j))
			}
		}
	}
	r.Remove("never there")
	if after := series(t, r.Gatherer(), ""); after != before {
		t.Errorf("%d series before, %d after 1 000 mappings came and went", before, after)
	}

	m := r.Mapping("moves")
	m.SetStalled(nil)
	base := series(t, r.Gatherer(), "moves")
	for i := range int32(1000) { // a thousand rebalances
		m.SetStalled([]metric.PartitionStall{{record.TopicPartition{Topic: "t", Partition: i}, 0}})
	}
	if n := series(t, r.Gatherer(), "moves"); n != base+1 {
		t.Errorf("one partition owned after 1 000 rebalances: %d series, want %d", n, base+1)
	}
	m.SetStalled(nil)
	if n := series(t, r.Gatherer(), "moves"); n != base {
		t.Errorf("no partition owned any more: %d series, want %d", n, base)
	}
}

func TestPartitionSeriesAreBoundedAndTheWorstAreShown(t *testing.T) {
	r := metric.New()
	m := r.Mapping("wide")
	base := series(t, r.Gatherer(), "wide")
	lags := make([]metric.PartitionLag, metric.PartitionsMax+5)
	for i := range lags {
		lags[i] = metric.PartitionLag{TopicPartition: record.TopicPartition{Topic: "t", Partition: int32(i)}, Lag: int64(i)}
	}
	m.SetLag(lags)
	// The sum and the maximum have one series each.
	if n := series(t, r.Gatherer(), "wide") - base; n != metric.PartitionsMax+2 {
		t.Errorf("%d series, want %d", n, metric.PartitionsMax+2)
	}
	got := page(t, r)
	for _, want := range []string{
		`sluice_max_offset_lag{mapping="wide"} 2004`,
		fmt.Sprintf(`sluice_sum_offset_lag{mapping="wide"} %s`, "2.00901e+06"),
		`sluice_offset_lag{mapping="wide",partition="5",topic="t"} 5`,
		`sluice_partitions_not_shown{mapping="wide",series="offset_lag"} 5`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(got, `partition="4",`) {
		t.Error("a partition beyond the bound is shown")
	}
}

func TestErrorKindsAreBounded(t *testing.T) {
	var c metric.ErrorCounter
	for i := range 100 {
		c.Inc(fmt.Sprintf("K%d", i))
		c.Inc("K0")
	}
	kinds := c.ByKind()
	if len(kinds) != metric.ErrorKindsMax+1 || kinds["K0"] != 101 || kinds[metric.OtherKind] != 100-metric.ErrorKindsMax || c.Value() != 200 {
		t.Errorf("%d kinds, %v", len(kinds), kinds)
	}
}

func TestCountingAndScrapingAtOnce(t *testing.T) {
	r := metric.New()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			m := r.Mapping("busy")
			for i := range 2000 {
				m.Polled.Add(1)
				m.InvokeErrors.Inc("Timeout")
				m.InFlightRecords.Add(1)
				m.BatchRecords.Observe(i)
				m.SetStalled([]metric.PartitionStall{{For: time.Second}})
			}
		})
	}
	for range 20 {
		page(t, r)
	}
	wg.Wait()
	if s := r.Mapping("busy").Snapshot(); s.Polled != 8000 || s.InvokeErrors != 8000 {
		t.Errorf("%+v", s)
	}
}

func TestNamesFollowPrometheusRules(t *testing.T) {
	r := metric.New()
	m := r.Mapping("orders")
	m.SetLag([]metric.PartitionLag{{record.TopicPartition{Topic: "t"}, 1}})
	families, err := r.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func BenchmarkCount(b *testing.B) {
	m := metric.New().Mapping("orders")
	b.ReportAllocs()
	for b.Loop() {
		m.Polled.Add(100)
		m.Invoked.Add(100)
		m.Batches.Add(1)
		m.InvokeDuration.Observe(time.Millisecond)
		m.BatchRecords.Observe(100)
	}
}
