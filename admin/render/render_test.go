package render

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/controller"
)

var update = flag.Bool("update", false, "rewrite testdata/*.txt")

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func orders() controller.MappingStatus {
	return controller.MappingStatus{
		Name: "orders", State: "Enabled", ConsumerGroupID: "sluice-orders", GroupProtocol: "consumer", Pollers: controller.Pollers{Now: 2, Minimum: 1, Maximum: 10},
		Lag: ptr(int64(1234567)), RecordsPerSecond: 12345.6, BytesPerSecond: 4_900_000,
		InFlight: controller.InFlight{Records: 1000, Batches: 10}, Counts: controller.Counts{Settled: 5678, Failed: 120, DeadLettered: 3},
		Throttled: "throttled by pollerLimits: 5 MB/s", Ready: true,
		Partitions: []controller.PartitionStatus{
			{Topic: "orders", Partition: 3, Lag: ptr(int64(42)), State: controller.Waiting, Stalled: &controller.Stall{
				Seconds: 95.4, Reason: "waiting in backoff for orders-3@1500, attempt 7, 503",
			}},
			{Topic: "orders", Partition: 4, Lag: ptr(int64(0)), State: controller.Idle},
			{Topic: "orders", Partition: 11, Lag: ptr(int64(99000)), State: controller.Waiting},
		},
		Decisions: []controller.Decision{
			{At: now, From: 1, To: 2, Reason: "1234567 records behind, 0/s arriving; one poller settles 500/s: 42 would drain the lag within 1m; maximum is 10; doubling", Reading: controller.Reading{Lag: ptr(int64(1234567)), SettledPerSecond: 512, Use: 1}},
			{At: now.Add(-time.Minute), From: 1, To: 1, Reason: "enough: 0 records behind, 3.5/s arriving, 3.5/s settled, 4 % used", Reading: controller.Reading{ArrivingPerSecond: 3.5, SettledPerSecond: 3.5, Use: 0.04}},
		},
	}
}

func status() controller.Status {
	return controller.Status{Version: "v0.1.0", StartedAt: now.Add(-26*time.Hour - 5*time.Minute), Mappings: []controller.MappingStatus{
		{Name: "audit-trail", State: "Disabled", Pollers: controller.Pollers{Minimum: 1, Maximum: 5}, Lag: ptr(int64(0)), Ready: true},
		orders(),
		{
			Name: "returns", State: "Enabling", Pollers: controller.Pollers{Now: 1, Minimum: 1, Maximum: 5}, RecordsPerSecond: 0.5,
			NotReadyReason: "has not joined group sluice-returns: broker1:9092: connection refused\x1b[2J\nretrying",
		},
		{
			Name: "thumbs", State: "Enabled", Pollers: controller.Pollers{Now: 1, Minimum: 1, Maximum: 5}, Lag: ptr(int64(3)), Ready: true,
			LastProcessingResult: "PROBLEM: Function call failed",
		},
	}}
}

func many() controller.Status {
	m := orders()
	m.Partitions, m.Decisions = nil, nil
	for i := range int32(30) {
		m.Partitions = append(m.Partitions, controller.PartitionStatus{
			Topic: "orders", Partition: i, State: controller.Waiting, Stalled: &controller.Stall{Seconds: float64(60 * i), Reason: "throttled by pollerLimits"},
		})
	}
	return controller.Status{Version: "v0.1.0", StartedAt: now.Add(-42 * time.Second), Mappings: []controller.MappingStatus{m}}
}

func explanation() controller.Explanation {
	return controller.Explanation{
		Mapping: "orders", State: "Enabled", StateReason: "USER_INITIATED", Lag: ptr(int64(99042)),
		Summary: "1 of 3 partitions makes no progress.",
		Partitions: []controller.PartitionExplanation{
			{Topic: "orders", Partition: 3, State: controller.Waiting, Lag: ptr(int64(42)), Sentence: "waiting in backoff for orders-3@1500, attempt 7, 503 (100 records), for 1m35s; the last error was Throttled; the next attempt is in 12s"},
			{Topic: "orders", Partition: 11, State: controller.Flowing, Lag: ptr(int64(99000)), Sentence: "flowing"},
			{Topic: "orders", Partition: 4, State: controller.Idle, Sentence: "nothing to do"},
		},
	}
}

func TestPrinted(t *testing.T) {
	for name, print := range map[string]func(*strings.Builder) error{
		"status":     func(b *strings.Builder) error { return Status(b, status(), now) },
		"status-why": func(b *strings.Builder) error { return StatusWhy(b, status(), now) },
		"status-none": func(b *strings.Builder) error {
			return Status(b, controller.Status{Version: "v1", StartedAt: now}, now)
		},
		"status-many": func(b *strings.Builder) error { return Status(b, many(), now) },
		"why-many":    func(b *strings.Builder) error { return StatusWhy(b, many(), now) },
		"explain":     func(b *strings.Builder) error { return Explain(b, explanation()) },
		"explain-empty": func(b *strings.Builder) error {
			return Explain(b, controller.Explanation{Mapping: "orders", State: "Disabled", Summary: "It is disabled."})
		},
		"decisions": func(b *strings.Builder) error { return Decisions(b, orders().Decisions, time.UTC) },
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := print(&b); err != nil {
				t.Fatal(err)
			}
			file := "testdata/" + name + ".txt"
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", b.String(), want)
			}
			if strings.ContainsRune(b.String(), '\x1b') {
				t.Error("an escape sequence got through")
			}
		})
	}
}

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 59*time.Second + 900*time.Millisecond: "59s", time.Minute: "1m", 95 * time.Second: "1m35s",
		time.Hour: "1h", 90 * time.Minute: "1h30m", 24 * time.Hour: "1d", 26*time.Hour + 59*time.Minute: "1d2h",
	} {
		if got := span(d); got != want {
			t.Errorf("%s is printed %s, want %s", time.Duration(d), got, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

func TestAWriterThatFails(t *testing.T) {
	for _, err := range []error{Status(full{}, status(), now), StatusWhy(full{}, status(), now), Explain(full{}, explanation()), Decisions(full{}, nil, time.UTC)} {
		if err == nil {
			t.Error("no error")
		}
	}
}
