package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/controller"
	"github.com/sluicehq/sluice/record"
)

// fake is a service with one mapping, "orders".
type fake struct {
	ready   []string
	asked   *record.TopicPartition
	block   chan struct{}
	blocked chan struct{}
}

var at = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func (f *fake) Status() controller.Status {
	if f.block != nil {
		f.blocked <- struct{}{}
		<-f.block
	}
	return controller.Status{Version: "v1", StartedAt: at, Mappings: []controller.MappingStatus{{
		Name: "orders", UUID: "6f1b7a52-3c1e-5e0b-9a6e-2f3d5c7b8a90", State: "Enabled", StateReason: "USER_INITIATED",
		LastProcessingResult: "OK", ConsumptionMode: "Stream", Function: "orders", Cluster: "main", Topics: []string{"orders"},
		ConsumerGroupID: "sluice-orders", Provisioned: true, Pollers: controller.Pollers{Now: 2, Minimum: 1, Maximum: 10},
		Lag: ptr(int64(42)), RecordsPerSecond: 1.5, BytesPerSecond: 1500, Throttled: "throttled by pollerLimits: 5 MB/s",
		NotReadyReason: "orders-3 stands still", Partitions: []controller.PartitionStatus{
			{
				Topic: "orders", Partition: 3, Committed: ptr(int64(1500)), EndOffset: ptr(int64(1542)), Lag: ptr(int64(42)), State: controller.Waiting,
				Stalled: &controller.Stall{Since: at, Seconds: 90, Reason: "waiting in backoff for orders-3@1500, attempt 7, 503"},
			},
			{Topic: "orders", Partition: 4, State: controller.Idle},
		}, Decisions: []controller.Decision{decision},
	}, {Name: "other", ConsumptionMode: "Stream", Topics: []string{}, Partitions: []controller.PartitionStatus{}, Decisions: []controller.Decision{}}}}
}

var decision = controller.Decision{
	At: at, From: 1, To: 2, Reason: "42 records behind", Reading: controller.Reading{Lag: ptr(int64(42)), PerPoller: ptr(1.5), Use: 1},
}

func (f *fake) Explain(mapping string, partition *record.TopicPartition) (controller.Explanation, error) {
	f.asked = partition
	if mapping == "broken" {
		return controller.Explanation{}, errors.New("controller: window is corrupt")
	}
	if mapping != "orders" {
		return controller.Explanation{}, fmt.Errorf("mapping %q: %w; there is orders", mapping, controller.ErrNotFound)
	}
	return controller.Explanation{Mapping: "orders", State: "Enabled", Summary: "one partition waits", Partitions: []controller.PartitionExplanation{
		{Topic: "orders", Partition: 3, State: controller.Waiting, Sentence: "waiting", Wait: &controller.Wait{
			For: controller.Backoff, Record: "orders-3@1500", Records: 100, Since: &at, Attempts: 6, Invocations: 7,
			LastError: &controller.LastError{Kind: "Throttled", Status: 503, Type: "T", Message: "m"}, NextAttemptAt: &at,
		}},
	}}, nil
}

func (f *fake) Decisions(mapping string) ([]controller.Decision, error) {
	switch mapping {
	case "orders":
		return []controller.Decision{decision}, nil
	case "new":
		return nil, nil
	}
	return nil, fmt.Errorf("mapping %q: %w", mapping, controller.ErrNotFound)
}

func (f *fake) Ready() (bool, []string) { return len(f.ready) == 0, f.ready }

func handler(f *fake) http.Handler {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "sluice_pollers 1\n")
	})
	return New(f, metrics, slog.New(slog.DiscardHandler))
}

func get(h http.Handler, target string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = "127.0.0.1:8440"
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAnswers(t *testing.T) {
	cases := []struct {
		name, target string
		ready        []string
		code         int
		want         string // part of the body
	}{
		{"status", "/sluice/v1/status", nil, 200, `"reason": "waiting in backoff for orders-3@1500, attempt 7, 503"`},
		{"status takes no parameters", "/sluice/v1/status?mapping=orders", nil, 400, `no parameter \"mapping\" here; allowed: none`},
		{"explain", "/sluice/v1/explain?mapping=orders", nil, 200, `"summary": "one partition waits"`},
		{"explain one partition", "/sluice/v1/explain?mapping=orders&partition=orders-3", nil, 200, `"record": "orders-3@1500"`},
		{"explain needs a mapping", "/sluice/v1/explain", nil, 400, "parameter mapping is missing"},
		{"explain with a misspelt parameter", "/sluice/v1/explain?mapping=orders&part=3", nil, 400, `no parameter \"part\" here; allowed: mapping, partition`},
		{"a parameter twice", "/sluice/v1/explain?mapping=a&mapping=b", nil, 400, "parameter mapping is given 2 times"},
		{"a query that is none", "/sluice/v1/explain?mapping=%zz", nil, 400, "query: "},
		{"explain a partition that is none", "/sluice/v1/explain?mapping=orders&partition=three", nil, 400, "allowed are TOPIC-NUMBER (orders-3) or NUMBER (3)"},
		{"explain a mapping that is not there", "/sluice/v1/explain?mapping=nope", nil, 404, `mapping \"nope\": not found; there is orders`},
		{"a fault of ours", "/sluice/v1/explain?mapping=broken", nil, 500, "window is corrupt"},
		{"decisions", "/sluice/v1/decisions?mapping=orders", nil, 200, `"perPoller": 1.5`},
		{"no decisions yet", "/sluice/v1/decisions?mapping=new", nil, 200, `"decisions": []`},
		{"decisions of a mapping that is not there", "/sluice/v1/decisions?mapping=nope", nil, 404, "not found"},
		{"healthy", "/healthz", []string{"mapping orders: not joined"}, 200, `"alive": true`},
		{"ready", "/readyz", nil, 200, `"ready": true`},
		{"not ready", "/readyz", []string{"mapping orders: orders-3 stands still"}, 503, "mapping orders: orders-3 stands still"},
		{"metrics", "/metrics", nil, 200, "sluice_pollers 1"},
		{"the document", "/sluice/v1/openapi.json", nil, 200, `"openapi"`},
		{"the index", "/", nil, 200, "/sluice/v1/explain?mapping=M"},
		{"a path that is not there", "/sluice/v2/status", nil, 404, "no such path: /sluice/v2/status"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := get(handler(&fake{ready: c.ready}), c.target)
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%d %s\nwant %d with %s", w.Code, w.Body, c.code, c.want)
			}
			if w.Code >= 400 && w.Code != 503 {
				var e Error
				if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Error == "" {
					t.Errorf("not an error document: %s", w.Body)
				}
			}
		})
	}
}

func TestOnlyThisMachineAndNoWebPageMayAsk(t *testing.T) {
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	header := func(k, v string) func(*http.Request) { return func(r *http.Request) { r.Header.Set(k, v) } }
	cases := []struct {
		name   string
		change []func(*http.Request)
		code   int
	}{
		{"by address", []func(*http.Request){host("127.0.0.1:8440")}, 200},
		{"by another loopback address", []func(*http.Request){host("127.1.2.3:8440")}, 200},
		{"by name", []func(*http.Request){host("localhost:8440")}, 200},
		{"by name, spelt oddly", []func(*http.Request){host("LocalHost.:8440")}, 200},
		{"by IPv6 address", []func(*http.Request){host("[::1]:8440")}, 200},
		{"without a port", []func(*http.Request){host("[::1]")}, 200},
		{"by a name that somebody lets point here (DNS rebinding)", []func(*http.Request){host("evil.example:8440")}, 403},
		{"by a name that begins like ours", []func(*http.Request){host("localhost.evil.example")}, 403},
		{"by a name that begins like our address", []func(*http.Request){host("127.0.0.1.evil.example:8440")}, 403},
		{"by an address of the network", []func(*http.Request){host("192.168.0.7:8440")}, 403},
		{"by no host", []func(*http.Request){host("")}, 403},
		{"our own page", []func(*http.Request){header("Origin", "http://127.0.0.1:8440"), header("Sec-Fetch-Site", "same-origin")}, 200},
		{"typed into the browser", []func(*http.Request){header("Sec-Fetch-Site", "none")}, 200},
		{"a page from elsewhere", []func(*http.Request){header("Sec-Fetch-Site", "cross-site")}, 403},
		{"a page of another port", []func(*http.Request){header("Sec-Fetch-Site", "same-site")}, 403},
		{"a page from elsewhere, old browser", []func(*http.Request){header("Origin", "https://evil.example")}, 403},
		{"a page of another port, old browser", []func(*http.Request){header("Origin", "http://127.0.0.1:3000")}, 403},
		{"a page without an origin", []func(*http.Request){header("Origin", "null")}, 403},
		{"an origin that is none", []func(*http.Request){header("Origin", "http://[bad")}, 403},
		{"HEAD", []func(*http.Request){func(r *http.Request) { r.Method = "HEAD" }}, 200},
		{"POST", []func(*http.Request){func(r *http.Request) { r.Method = "POST" }}, 405},
		{"DELETE", []func(*http.Request){func(r *http.Request) { r.Method = "DELETE" }}, 405},
	}
	for _, c := range cases {
		for _, path := range []string{"/sluice/v1/status", "/metrics", "/healthz", "/"} {
			t.Run(c.name+" "+path, func(t *testing.T) {
				if w := get(handler(&fake{}), path, c.change...); w.Code != c.code {
					t.Errorf("%d, want %d: %s", w.Code, c.code, w.Body)
				}
			})
		}
	}
}

func TestRequestsAtOnceAreBounded(t *testing.T) {
	f := &fake{block: make(chan struct{}), blocked: make(chan struct{})}
	h := handler(f)
	done := make(chan int)
	for range requestsMax {
		go func() { done <- get(h, "/sluice/v1/status").Code }()
		<-f.blocked
	}
	if w := get(h, "/healthz"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d", w.Code)
	}
	close(f.block)
	for range requestsMax {
		if code := <-done; code != 200 {
			t.Errorf("%d", code)
		}
	}
	if w := get(h, "/healthz"); w.Code != 200 {
		t.Errorf("afterwards %d", w.Code)
	}
}

func TestExplainAsksForThePartition(t *testing.T) {
	for target, want := range map[string]*record.TopicPartition{
		"/sluice/v1/explain?mapping=orders":                            nil,
		"/sluice/v1/explain?mapping=orders&partition=3":                {Partition: 3},
		"/sluice/v1/explain?mapping=orders&partition=orders-3":         {Topic: "orders", Partition: 3},
		"/sluice/v1/explain?mapping=orders&partition=orders-eu-2026-0": {Topic: "orders-eu-2026"},
	} {
		f := &fake{}
		if w := get(handler(f), target); w.Code != 200 || !reflect.DeepEqual(f.asked, want) {
			t.Errorf("%s: %d, asked for %v, want %v", target, w.Code, f.asked, want)
		}
	}
}

func FuzzParsePartition(f *testing.F) {
	for _, s := range []string{"3", "orders-3", "a-b-0", "-1", "-", "", "orders-", "orders--1", "x-2147483648", "x-03"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tp, err := ParsePartition(s)
		if err != nil {
			return
		}
		printed := tp.String()
		if tp.Topic == "" {
			printed = fmt.Sprint(tp.Partition)
		}
		if printed != s || tp.Partition < 0 {
			t.Errorf("%q was read as %+v, which prints %q", s, tp, printed)
		}
	})
}
