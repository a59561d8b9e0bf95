package function

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/ledger"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var p0 = record.TopicPartition{Topic: "orders"}

// kafkaEvent is an event of records from orders-0 on; AWS's own type writes it.
func kafkaEvent(values ...string) []byte {
	e := events.KafkaEvent{EventSource: "SelfManagedKafka", Records: map[string][]events.KafkaRecord{}}
	for i, v := range values {
		e.Records["orders-0"] = append(e.Records["orders-0"], events.KafkaRecord{
			Topic: "orders", Offset: int64(i), Value: base64.StdEncoding.EncodeToString([]byte(v)),
		})
	}
	body, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return body
}

type reply struct {
	status int
	header http.Header
	body   string
	err    error // of the call or of reading the body
}

func call(t *testing.T, f *Function, attempt int, body []byte) reply {
	t.Helper()
	return callWith(t.Context(), t, f, attempt, body)
}

// callBriefly is a call by a client that goes as soon as the function has begun to look at it.
func callBriefly(t *testing.T, f *Function, attempt int, body []byte) reply {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := f.Totals().Attempts
	go func() {
		for ctx.Err() == nil && f.Totals().Attempts == before {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	return callWith(ctx, t, f, attempt, body)
}

func callWith(ctx context.Context, t *testing.T, f *Function, attempt int, body []byte) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.URL(), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sluice-Attempt", fmt.Sprint(attempt))
	req.Header.Set("Sluice-Batch-Id", "b1")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(content), err}
}

func start(t *testing.T, config Config) *Function {
	t.Helper()
	f, err := Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestActions(t *testing.T) {
	const none = `{"batchItemFailures":[]}`
	cases := []struct {
		rule   string
		status int    // 0: no whole answer
		body   string // begins so
		taken  int64  // of the two records
	}{
		{"succeed", 200, none, 2},
		{"succeed delay=1ms", 200, none, 2},
		{"fail", 500, `{"errorMessage"`, 0},
		{"fail status=503 retry-after=1500ms", 503, `{"errorMessage"`, 0},
		{"function-error", 200, `{"errorMessage"`, 0},
		{"item-failures contains=poison", 200, `{"batchItemFailures":[{"itemIdentifier":{"partition":"orders-0","offset":1}}]}`, 1},
		{"item-failures", 200, `{"batchItemFailures":[{`, 0},
		{"malformed", 200, `{"batchItemFailures":[`, 0},
		{"malformed counts=taken", 200, `{"batchItemFailures":[`, 2},
		{"hang", 0, "", 0},
		{"drip bytes=30 delay=1ms", 200, `{"batchItemFailures":[]`, 2},
		{"drip delay=1h", 0, "", 0},
		{"huge bytes=100000", 200, `{"batchItemFailures":[]  `, 0},
		{"reset", 0, "", 0},
	}
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			rule, err := ParseRule(c.rule)
			if err != nil {
				t.Fatal(err)
			}
			l := ledger.New(ledger.PerPartition)
			f := start(t, Config{Script: Script{Rules: []Rule{rule}}, Ledger: l})
			var got reply
			if c.status == 0 && rule.Action != Reset {
				got = callBriefly(t, f, 1, kafkaEvent("fine", "poison"))
			} else {
				got = call(t, f, 1, kafkaEvent("fine", "poison"))
			}
			switch {
			case c.status == 0 && got.err == nil:
				t.Errorf("answer %d %.100q, want none", got.status, got.body)
			case c.status != 0 && (got.status != c.status || got.err != nil || !strings.HasPrefix(got.body, c.body)):
				t.Errorf("answer %d %.100q (%v), want %d %q", got.status, got.body, got.err, c.status, c.body)
			}
			if rule.RetryAfter != 0 && got.header.Get("Retry-After") != "2" {
				t.Errorf("Retry-After %q, want 2: seconds, rounded up", got.header.Get("Retry-After"))
			}
			waitIdle(t, f)
			if taken := l.Report().Taken; taken != c.taken {
				t.Errorf("%d records taken, want %d", taken, c.taken)
			}
			a := f.Attempts()[0]
			if a.Action != rule.Action || a.Failed != 2-int(c.taken) || a.BatchID != "b1" || a.Attempt != 1 || !a.Has(p0, 1) || a.Has(p0, 2) {
				t.Errorf("remembered %+v", a)
			}
		})
	}
}

// waitIdle waits for the handlers of clients that have gone.
func waitIdle(t *testing.T, f *Function) {
	t.Helper()
	for began := time.Now(); f.Totals().Concurrent > 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("a request is still being answered")
		}
	}
}

func TestConditions(t *testing.T) {
	fail := func(r Rule) Script { r.Action = Fail; return Script{Seed: 7, Rules: []Rule{r}} }
	calls := func(t *testing.T, s Script, n int, attempt func(i int) int, value string) (failed int) {
		f := start(t, Config{Script: s})
		for i := range n {
			if call(t, f, attempt(i), kafkaEvent(value)).status != 200 {
				failed++
			}
		}
		return failed
	}
	first := func(int) int { return 1 }
	if got := calls(t, fail(Rule{Times: 2}), 5, first, "v"); got != 2 {
		t.Errorf("times=2 failed %d of 5", got)
	}
	if got := calls(t, fail(Rule{Attempts: 2}), 5, func(i int) int { return i + 1 }, "v"); got != 2 {
		t.Errorf("attempts=2 failed %d of attempts 1 to 5", got)
	}
	if got := calls(t, fail(Rule{Contains: "poison"}), 3, first, "a poisonous one"); got != 3 {
		t.Errorf("contains=poison failed %d of 3 that contain it", got)
	}
	if got := calls(t, fail(Rule{Contains: "poison"}), 3, first, "fine"); got != 0 {
		t.Errorf("contains=poison failed %d of 3 that do not contain it", got)
	}
	one, two := calls(t, fail(Rule{Share: 0.3}), 100, first, "v"), calls(t, fail(Rule{Share: 0.3}), 100, first, "v")
	if one != two || one < 15 || one > 45 {
		t.Errorf("share=0.3 failed %d, then %d of 100, want the same number near 30", one, two)
	}
}

func TestRefusals(t *testing.T) {
	f := start(t, Config{Script: Script{BodyMax: 1000}})
	cases := []struct {
		name   string
		body   string
		status int
	}{
		{"no JSON", "{", 400},
		{"no records", `{"records":{}}`, 400},
		{"an empty partition", `{"records":{"orders-0":[]}}`, 400},
		{"a record under another partition", `{"records":{"orders-1":[{"topic":"orders","partition":0}]}}`, 400},
		{"a value that is no base64", `{"records":{"orders-0":[{"topic":"orders","value":"%"}]}}`, 400},
		{"an event of 1 001 bytes", strings.Repeat(" ", 1001), 413},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := call(t, f, 1, []byte(c.body)); got.status != c.status {
				t.Errorf("status %d (%v), want %d", got.status, got.err, c.status)
			}
		})
	}
	if got := f.Totals().Refused; got != int64(len(cases)) {
		t.Errorf("%d refused, want %d", got, len(cases))
	}
	if got := call(t, f, 1, kafkaEvent("ok")); got.status != 200 {
		t.Errorf("status %d (%v) of a good event", got.status, got.err)
	}
}

func TestCloseEndsWhatHangs(t *testing.T) {
	f := start(t, Config{Script: Script{Rules: []Rule{{Action: Hang}}}})
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if got := call(t, f, 1, kafkaEvent("v")); got.err == nil {
				t.Errorf("answer %+v, want none", got)
			}
		})
	}
	for f.Totals().Concurrent < 3 {
		time.Sleep(time.Millisecond)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	waitIdle(t, f)
	if got := f.Totals(); got.ConcurrentMax != 3 || got.Concurrent != 0 || got.Attempts != 3 || got.Records != 3 {
		t.Errorf("totals %+v", got)
	}
}

func TestScriptsCanBeChanged(t *testing.T) {
	f := start(t, Config{Script: Script{Rules: []Rule{{Action: Fail}}}})
	if got := call(t, f, 1, kafkaEvent("v")).status; got != 500 {
		t.Errorf("status %d, want 500", got)
	}
	f.SetScript(Script{})
	if got := call(t, f, 2, kafkaEvent("v")).status; got != 200 {
		t.Errorf("status %d, want 200", got)
	}
}

func TestReplayTellsALedgerTheSame(t *testing.T) {
	var log bytes.Buffer
	live := ledger.New(ledger.PerPartition)
	f := start(t, Config{Ledger: live, Log: &log, Script: Script{Rules: []Rule{
		{Action: Fail, Times: 1}, {Action: ItemFailures, Contains: "poison", Times: 1},
	}}})
	body := kafkaEvent("a", "poison", "b", "poison")
	for attempt := 1; attempt <= 3; attempt++ {
		call(t, f, attempt, body)
	}
	call(t, f, 1, []byte("{"))
	waitIdle(t, f)

	replayed := ledger.New(ledger.PerPartition)
	cut := io.MultiReader(&log, strings.NewReader(`{"event":"beg`))
	if err := Replay(cut, replayed); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*ledger.Ledger{live, replayed} {
		for o := range record.Offset(4) {
			l.Produced(p0, o, 0)
		}
	}
	want := ledger.Counts{Produced: 4, Taken: 4, Duplicates: 2, Redelivered: 8}
	if got := replayed.Report(); got.Counts != want || got.Attempts != 3 || got.FailedAttempts != 2 {
		t.Errorf("replayed\n%v\nlive\n%v", got, live.Report())
	}
	if got := live.Report(); got.Counts != want {
		t.Errorf("live %+v, want %+v", got.Counts, want)
	}
}

func TestReplayRefusesABrokenLog(t *testing.T) {
	for log, want := range map[string]string{
		"{\n{}\n":                           "log line 1",
		`{"event":"end","number":1}` + "\n": "attempt 1 ends without having begun",
	} {
		if err := Replay(strings.NewReader(log), ledger.New(ledger.None)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("log %q: %v, want %q", log, err, want)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var m memory
	for range AttemptsMax + 10 {
		m.begin(&Attempt{})
	}
	if attempts, totals := m.snapshot(); len(attempts) != AttemptsMax || attempts[0].Number != 11 || totals.Attempts != AttemptsMax+10 {
		t.Errorf("%d attempts from %d on, %d in all", len(attempts), attempts[0].Number, totals.Attempts)
	}
	big := &Attempt{Runs: []ledger.Run{{Offsets: make([]record.Offset, recordsMax)}}}
	m.begin(big)
	m.begin(big)
	if attempts, _ := m.snapshot(); len(attempts) != 1 {
		t.Errorf("%d attempts remembered, want the last alone", len(attempts))
	}
}

func TestParseRule(t *testing.T) {
	got, err := ParseRule("fail status=503 retry-after=2s share=0.05 contains=x times=3 attempts=2 delay=5ms bytes=9 counts=failed")
	want := Rule{
		Action: Fail, Status: 503, RetryAfter: 2 * time.Second, Share: 0.05, Contains: "x", Times: 3, Attempts: 2,
		Delay: 5 * time.Millisecond, Bytes: 9,
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for line, want := range map[string]string{
		"":                   "begins with its action",
		"explode":            `action "explode": want succeed`,
		"fail share=2":       "share=2: want more than 0 and at most 1",
		"fail status=99":     "status=99: want 200 to 599",
		"fail times=0":       "times=0: want a number from 1",
		"fail delay=fast":    "delay=fast: want a duration",
		"fail colour=red":    "colour=red: want share",
		"huge counts=maybe":  "counts=maybe: want taken or failed",
		"fail share=2 times": "times: want a number from 1", // every mistake at once
	} {
		if _, err := ParseRule(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func FuzzParseRule(f *testing.F) {
	f.Add("fail status=503 share=0.05")
	f.Fuzz(func(t *testing.T, line string) {
		if r, err := ParseRule(line); err == nil && r.Action.check() != nil {
			t.Errorf("%q gave %+v", line, r)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(kafkaEvent("a", "b"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if e, err := decode(body); err == nil {
			for _, run := range e.runs() {
				if len(run.Offsets) == 0 || len(run.Offsets) != len(run.Sums) {
					t.Errorf("run %+v", run)
				}
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	values := make([]string, 100)
	for i := range values {
		values[i] = strings.Repeat("x", 1024)
	}
	body := kafkaEvent(values...)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		e, err := decode(body)
		if err != nil {
			b.Fatal(err)
		}
		e.runs()
	}
}
