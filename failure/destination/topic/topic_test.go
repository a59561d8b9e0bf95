package topic

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/record"
)

func TestARecordArrivesWholeWithItsHistory(t *testing.T) {
	w := newWorld(t)
	w.create("dlq", 1, nil)
	run := failedRun("a", "b")
	run.Records[0].Headers = []kgo.RecordHeader{
		{Key: "trace", Value: []byte("x")}, {Key: "empty", Value: []byte{}}, {Key: "trace", Value: []byte{0xE9}},
	}
	run.Records[1].Key, run.Records[1].Value = nil, nil
	before := slices.Clone(run.Records[0].Headers)

	undelivered, err := w.topic(func(c *Config) { c.SourceClusterID = "there" }).Deliver(t.Context(), run)
	if err != nil || undelivered != nil {
		t.Fatalf("undelivered %v, error %v", undelivered, err)
	}
	got := w.read("dlq", 2)
	if string(got[0].Key) != "key-0" || string(got[0].Value) != "a" {
		t.Errorf("key %q, value %q", got[0].Key, got[0].Value)
	}
	if got[1].Key != nil || got[1].Value != nil {
		t.Errorf("null key and value became %v, %v", got[1].Key, got[1].Value)
	}
	if age := time.Since(got[0].Timestamp); age > time.Minute || age < -time.Minute {
		t.Errorf("timestamp %v is not that of the delivery", got[0].Timestamp)
	}
	history := `sluice-mapping: m
sluice-topic: orders
sluice-partition: 3
sluice-offset: 1500
sluice-timestamp: 2026-11-30T10:15:01.000Z
sluice-condition: RetryAttemptsExhausted
sluice-attempts: 4
sluice-invocations: 6
sluice-error-kind: FunctionError
sluice-error-status: 500
sluice-error-type: ValueError
sluice-error-message: no such order
sluice-request-id: 316aa6d0
sluice-path: there/orders
`
	if want := "trace: x\nempty: \ntrace: \xe9\n" + history; headersOf(got[0]) != want {
		t.Errorf("headers\n%s\nwant\n%s", headersOf(got[0]), want)
	}
	if want := strings.Replace(history, "1500", "1501", 1); headersOf(got[1]) != want {
		t.Errorf("headers\n%s\nwant\n%s", headersOf(got[1]), want)
	}
	if !slices.EqualFunc(run.Records[0].Headers, before, func(a, b kgo.RecordHeader) bool { return a.Key == b.Key }) {
		t.Error("the record itself was changed")
	}
}

// A record that was redriven and fails again tells its newest failure, once.
func TestOldHeadersAreReplaced(t *testing.T) {
	w := newWorld(t)
	w.create("dlq", 1, nil)
	run := failedRun("a")
	run.Retry.Last = record.Failure{Kind: "Timeout"}
	run.Records[0].Headers = []kgo.RecordHeader{
		{Key: "sluice-offset", Value: []byte("7")},
		{Key: "mine", Value: []byte("x")},
		{Key: "sluice-error-type", Value: []byte("Old")},
		{Key: "sluice-unknown", Value: []byte("Old")},
		{Key: "sluice-path", Value: []byte("there/orders")},
	}
	if _, err := w.topic(func(c *Config) { c.SourceClusterID = "there" }).Deliver(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	want := `mine: x
sluice-mapping: m
sluice-topic: orders
sluice-partition: 3
sluice-offset: 1500
sluice-timestamp: 2026-11-30T10:15:01.000Z
sluice-condition: RetryAttemptsExhausted
sluice-attempts: 4
sluice-invocations: 6
sluice-error-kind: Timeout
sluice-path: there/orders
`
	if got := headersOf(w.read("dlq", 1)[0]); got != want {
		t.Errorf("headers\n%s\nwant\n%s", got, want)
	}
}

// Fault 38: a destination that is not there keeps the records waiting, and gets them once it is.
func TestAMissingTopicHoldsAndThenGets(t *testing.T) {
	w := newWorld(t)
	topic := w.topic(nil)
	run := failedRun("a", "b", "c")
	if _, err := topic.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "check dead-letter topic dlq: the topic does not exist (create the topic") {
		t.Errorf("check: %v", err)
	}
	undelivered, err := topic.Deliver(t.Context(), run)
	if !slices.Equal(undelivered, run.Records) {
		t.Fatalf("undelivered %v", undelivered)
	}
	for _, want := range []string{
		"deliver to dead-letter topic dlq: the topic does not exist", "3 of 3 records, the first orders-3@1500",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	w.create("dlq", 2, nil)
	deadline := time.Now().Add(20 * time.Second)
	for err != nil && time.Now().Before(deadline) {
		undelivered, err = topic.Deliver(t.Context(), run)
	}
	if err != nil || len(undelivered) > 0 {
		t.Fatalf("with the topic: undelivered %d, error %v", len(undelivered), err)
	}
	w.read("dlq", 3)
}

func TestADeadDestinationLetsGo(t *testing.T) {
	w := newWorld(t)
	w.create("dlq", 1, nil)
	topic := w.topic(func(c *Config) { c.Timeout = 300 * time.Millisecond; c.SourceClusterID = "there" })
	run := failedRun("a", "b")
	w.kfake.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		w.kfake.KeepControl()
		w.kfake.SleepControl(func() { <-t.Context().Done() }) // never answers
		return nil, errors.New("hung up"), true
	})
	for range 2 { // the second waits for the first one's records to be let go of
		started := time.Now()
		undelivered, err := topic.Deliver(t.Context(), run)
		if len(undelivered) != 2 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("undelivered %d, error %v", len(undelivered), err)
		}
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if undelivered, err := topic.Deliver(ctx, run); len(undelivered) != 2 || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: undelivered %d, error %v", len(undelivered), err)
	}
}

func TestOnlyWhatFailedComesBack(t *testing.T) {
	w := newWorld(t)
	w.create("dlq", 4, nil)
	run := failedRun(slices.Repeat([]string{"x"}, 40)...)
	broken := map[int32]bool{2: true}
	fault := w.kfake.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Partitions: []int32{2}, Err: kerr.TopicAuthorizationFailed, Count: -1,
	})
	undelivered, err := w.topic(nil).Deliver(t.Context(), run)
	if err == nil || !strings.Contains(err.Error(), "not allowed on the topic") {
		t.Errorf("error %v", err)
	}
	arrived := map[string]bool{}
	for _, r := range w.read("dlq", len(run.Records)-len(undelivered)) {
		if broken[r.Partition] {
			t.Errorf("a record in partition %d", r.Partition)
		}
		arrived[string(r.Key)] = true
	}
	if len(undelivered) == 0 || !slices.IsSortedFunc(undelivered, func(a, b *record.Record) int { return int(a.Offset - b.Offset) }) {
		t.Errorf("undelivered %d, in order", len(undelivered))
	}
	for _, r := range undelivered {
		if arrived[string(r.Key)] {
			t.Errorf("%s came back although it arrived", r.Key)
		}
	}
	fault.Remove()
	run.Records = undelivered
	if rest, err := w.topic(nil).Deliver(t.Context(), run); err != nil || len(rest) > 0 {
		t.Errorf("the rest: %d, %v", len(rest), err)
	}
	w.read("dlq", 40)
}

func TestWritesAreConfirmedByAllReplicas(t *testing.T) {
	w := newWorld(t)
	w.create("dlq", 1, nil)
	var mu sync.Mutex
	var acks []int16
	w.kfake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.kfake.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		acks = append(acks, req.(*kmsg.ProduceRequest).Acks)
		return nil, nil, false
	})
	if _, err := w.topic(nil).Deliver(t.Context(), failedRun("a")); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(acks, []int16{-1}) {
		t.Errorf("acks %v, want one request with -1 (all)", acks)
	}
}

func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	w.create("dlq", 3, nil)
	topic := w.topic(nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := topic.Deliver(t.Context(), failedRun("a", "b", "c", "d", "e")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	w.read("dlq", 100)
}

func TestARecordTooLargeForTheTopic(t *testing.T) {
	values := []string{"a", "b", noise(40_000), "d", "e"}
	t.Run("format record: it alone is held", func(t *testing.T) {
		w := newWorld(t)
		w.create("dlq", 1, map[string]string{"max.message.bytes": "20000"})
		run := failedRun(values...)
		undelivered, err := w.topic(nil).Deliver(t.Context(), run)
		if len(undelivered) != 1 || undelivered[0] != run.Records[2] {
			t.Errorf("undelivered %v", undelivered)
		}
		if err == nil || !strings.Contains(err.Error(), "the record is too large for the topic (raise the topic's max.message.bytes): 1 of 5 records, the first orders-3@1502") {
			t.Errorf("error %v", err)
		}
		var order []string
		for _, r := range w.read("dlq", 4) {
			order = append(order, string(r.Value))
		}
		if !slices.Equal(order, []string{"a", "b", "d", "e"}) {
			t.Errorf("arrived %q", order)
		}
	})
	t.Run("format aws: it goes without payload and tells where it stands", func(t *testing.T) {
		w := newWorld(t)
		w.create("dlq", 1, map[string]string{"max.message.bytes": "20000"})
		undelivered, err := w.topic(func(c *Config) { c.Format = FormatAWS }).Deliver(t.Context(), failedRun(values...))
		if err != nil || len(undelivered) != 0 {
			t.Fatalf("undelivered %v, error %v", undelivered, err)
		}
		bare := 0
		for _, r := range w.read("dlq", 5) {
			if bytes.Contains(r.Value, []byte(`"payloadReference":{"topic":"orders","partition":3,"offset":1502}`)) {
				bare++
			} else if !bytes.Contains(r.Value, []byte(`"payload":{`)) {
				t.Errorf("neither payload nor reference: %s", r.Value)
			}
		}
		if bare != 1 {
			t.Errorf("%d without payload", bare)
		}
	})
	t.Run("a topic for small batches gets small batches", func(t *testing.T) {
		w := newWorld(t)
		w.create("dlq", 1, map[string]string{"max.message.bytes": "1500"})
		values := make([]string, 64)
		for i := range values {
			values[i] = noise(300)
		}
		if undelivered, err := w.topic(nil).Deliver(t.Context(), failedRun(values...)); err != nil || len(undelivered) > 0 {
			t.Errorf("undelivered %d, error %v", len(undelivered), err)
		}
		w.read("dlq", 64)
	})
	t.Run("records above one chunk are no reason to refuse", func(t *testing.T) {
		w := newWorld(t)
		w.create("dlq", 1, map[string]string{"max.message.bytes": "3000000"})
		if undelivered, err := w.topic(nil).Deliver(t.Context(), failedRun("a", noise(2_000_000), noise(2_000_000), "d")); err != nil {
			t.Errorf("undelivered %d, error %v", len(undelivered), err)
		}
		w.read("dlq", 4)
	})
}

// Fault 51: a compacted topic wants keys.
func TestACompactedTopicGetsKeys(t *testing.T) {
	const own = "orders-3@1501"
	t.Run("known from Check, which warns", func(t *testing.T) {
		w := newWorld(t)
		w.create("dlq", 1, map[string]string{"cleanup.policy": "compact"})
		topic := w.topic(nil)
		warning, err := topic.Check(t.Context())
		if err != nil || !strings.Contains(warning, "dlq is compacted (cleanup.policy=compact)") {
			t.Errorf("warning %q, error %v", warning, err)
		}
		run := failedRun("a", "b")
		run.Records[1].Key = nil
		if _, err := topic.Deliver(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if got := w.read("dlq", 2); string(got[0].Key) != "key-0" || string(got[1].Key) != own {
			t.Errorf("keys %q, %q", got[0].Key, got[1].Key)
		}
	})
	t.Run("learnt from the refusal", func(t *testing.T) {
		w := newWorld(t)
		w.create("dlq", 1, nil)
		w.kfake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord, Count: 2}) // the batch, and its first half
		run := failedRun("a", "b")
		run.Records[0].Key, run.Records[1].Key = nil, nil
		topic := w.topic(nil)
		if undelivered, err := topic.Deliver(t.Context(), run); err != nil {
			t.Fatalf("undelivered %d, error %v", len(undelivered), err)
		}
		if got := w.read("dlq", 2); string(got[0].Key) != "orders-3@1500" && string(got[1].Key) != "orders-3@1500" {
			t.Errorf("keys %q, %q", got[0].Key, got[1].Key)
		}
		if !topic.compacted.Load() {
			t.Error("not learnt")
		}
	})
	t.Run("elsewhere a record without key stays without", func(t *testing.T) {
		w := newWorld(t)
		w.create("dlq", 1, nil)
		topic := w.topic(nil)
		if warning, err := topic.Check(t.Context()); warning != "" || err != nil {
			t.Errorf("warning %q, error %v", warning, err)
		}
	})
}

// Fault 40: A→B→A stops after one round.
func TestALoopIsRefused(t *testing.T) {
	w := newWorld(t)
	w.create("orders", 1, nil)
	w.create("dlq", 1, nil)
	forth := w.topic(func(c *Config) { c.SourceClusterID = "here" })
	back := w.topic(func(c *Config) { c.SourceClusterID = "here"; c.Topic = "orders" })

	if _, err := forth.Deliver(t.Context(), failedRun("a", "b")); err != nil {
		t.Fatal(err)
	}
	dead := w.read("dlq", 2)
	run := record.Run{TopicPartition: record.TopicPartition{Topic: "dlq"}, Records: dead, Retry: failedRun("x").Retry}
	undelivered, err := back.Deliver(t.Context(), run)
	if len(undelivered) != 2 || !errors.Is(err, ErrLoop) {
		t.Errorf("undelivered %d, error %v", len(undelivered), err)
	}

	// The same names on another cluster are other topics.
	elsewhere := w.topic(func(c *Config) { c.SourceClusterID = "there"; c.Topic = "orders" })
	dead[0].Headers = nil
	run.Records = dead[:1]
	if _, err := elsewhere.Deliver(t.Context(), run); err != nil {
		t.Error(err)
	}

	// A record that was redriven to where it came from may fail there again.
	again := failedRun("a")
	again.Records[0].Headers = []kgo.RecordHeader{{Key: HeaderPath, Value: []byte("here/orders")}}
	if _, err := forth.Deliver(t.Context(), again); err != nil {
		t.Error(err)
	}
}

func TestTheSourceIsRecognisedUnderAnyName(t *testing.T) {
	w := newWorld(t)
	other := newWorld(t, kfake.ClusterID("other"))
	alias, err := kafka.NewClient(kafka.Cluster{
		Name: "alias", BootstrapServers: []string{strings.Replace(w.cluster.BootstrapServers[0], "127.0.0.1", "localhost", 1)},
	}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer alias.Close()
	orders := func(topic string) bool { return topic == "orders" }
	for _, c := range []struct {
		name        string
		destination *kgo.Client
		topic       string
		want        bool
	}{
		{"same cluster, same topic", w.producer.Client(), "orders", true},
		{"same cluster under another address", alias, "orders", true},
		{"same cluster, other topic", alias, "dlq", false},
		{"other cluster, same topic", other.producer.Client(), "orders", false},
	} {
		same, err := SameTopic(t.Context(), w.producer.Client(), orders, c.destination, c.topic)
		if same != c.want || err != nil {
			t.Errorf("%s: %v, error %v", c.name, same, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := SameTopic(ctx, w.producer.Client(), orders, alias, "orders"); err == nil {
		t.Error("no error although nobody could be asked")
	}
}

func TestBadConfigsAreNamed(t *testing.T) {
	for want, config := range map[string]Config{
		`format "avro": allowed are record and aws`: {Producer: &Producer{}, Topic: "dlq", Format: "avro"},
		"needs a producer and a topic":              {Topic: "dlq"},
		"kafka://: needs a producer and a topic":    {Producer: &Producer{}},
	} {
		if _, err := New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
