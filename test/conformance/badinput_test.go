package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// garbage is what a function may say that is no answer of a function; %s is an address that must never be called.
var garbage = []string{
	"",
	"H",
	"\x00\xff\x00garbage\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
	"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}",
	"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
	"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 10<<20),
	"HTTP/1.1 500 Oops\r\nContent-Length: 10485760\r\n\r\n" + strings.Repeat("x", 10<<20),
	"HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("h", 1<<20) + "\r\n\r\n{}",
	"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 307 Temporary Redirect\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo\r\nConnection: Upgrade\r\n\r\n",
	"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n",
	strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000),
	"HTTP/1.1 429 Slow\r\nRetry-After: -5\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 413 Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
}

// nonsense is what a function may say where it should name failed records.
var nonsense = []string{
	`null garbage`, `[]`, `"x"`, `{"batchItemFailures":null,`, `{"batchItemFailures":[{}]}`,
	`{"batchItemFailures":[{"itemIdentifier":null}]}`, `{"batchItemFailures":[{"itemIdentifier":"x"}]}`,
	`{"batchItemFailures":[{"itemIdentifier":{"partition":"nope-0","offset":1}}]}`,
	`{"batchItemFailures":[{"itemIdentifier":{"partition":"nope-0","offset":1e400}}]}`,
	strings.Repeat("[", 1_000_000),
}

// Two of three answers are garbage; every record is taken all the same, in order.
func TestGarbageOfTheFunctionLosesNothing(t *testing.T) {
	for _, partial := range []bool{false, true} {
		t.Run(fmt.Sprintf("partial responses %v", partial), func(t *testing.T) {
			r := newRig(t, kafkatest.Fake(t, kafkatest.Options{}), 4, function.Script{})
			r.produce(4, 600)
			var trapped, calls atomic.Int64
			trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { trapped.Add(1) }))
			defer trap.Close()
			answers, extra := garbage, []string{"batchSize: 20", quick}
			if partial {
				extra = append(extra, "functionResponseTypes: [ReportBatchItemFailures]")
				for _, body := range nonsense {
					answers = append(answers, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
				}
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				n := calls.Add(1)
				if n%3 == 0 {
					r.function.ServeHTTP(w, req)
					return
				}
				say(w, req, strings.Replace(answers[int(n/3*2+n%3)%len(answers)], "%s", trap.URL, 1))
			}))
			defer server.Close()
			yaml := strings.Replace(r.yaml(extra...), r.function.URL(), server.URL+"/", 1)
			p := start(t, strings.Replace(yaml, "timeout: 5s", "timeout: 2s", 1))
			r.settled(time.Minute)
			p.stop()
			if n := trapped.Load(); n > 0 {
				t.Errorf("%d redirects were followed", n)
			}
			r.judge()
		})
	}
}

// say answers with raw bytes and hangs up.
func say(w http.ResponseWriter, req *http.Request, answer string) {
	_, _ = io.Copy(io.Discard, req.Body)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(conn, answer)
	_ = conn.Close()
}

// eventRecord is a record as the event document spells it.
type eventRecord struct {
	Offset    int64
	Timestamp int64
	Key       *string
	Value     *string
	Headers   []map[string][]int8
}

// Records that nobody would write on purpose arrive whole.
func TestStrangeRecordsArriveWhole(t *testing.T) {
	r := newRig(t, kafkatest.Fake(t, kafkatest.Options{}), 1, function.Script{})
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	var many []kgo.RecordHeader
	for i := range 200 {
		many = append(many, kgo.RecordHeader{Key: fmt.Sprint("h", i%50), Value: all[i%7 : i]})
	}
	records := []*kgo.Record{
		{},
		{Value: []byte{}},
		{Key: []byte{}, Value: []byte("x")},
		{Key: []byte("tombstone")},
		{Key: []byte("\xff\xfe\x00"), Value: all},
		{Key: all, Value: []byte("\xc3\x28")},
		{Value: []byte("headers"), Headers: many},
		{Value: []byte("header injection"), Headers: []kgo.RecordHeader{{Key: "a\r\nX-Evil: 1", Value: []byte("b\r\n\x00c")}, {Key: "quote\"\\\u2028<"}, {}}},
		{Value: []byte("before 1970"), Timestamp: time.UnixMilli(-5)},
		{Value: []byte("1970"), Timestamp: time.UnixMilli(0)},
		{Value: bytes.Repeat([]byte("z"), 900_000)},
	}
	for _, rec := range records {
		rec.Topic = r.topic
		r.cluster.Produce(rec)
	}
	var mu sync.Mutex
	got := map[int64]eventRecord{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var event struct{ Records map[string][]eventRecord }
		if err := json.NewDecoder(req.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, rec := range event.Records[r.topic+"-0"] {
			got[rec.Offset] = rec
		}
	}))
	defer server.Close()
	p := start(t, strings.Replace(r.yaml(fast), r.function.URL(), server.URL+"/", 1))
	r.settled(30 * time.Second)
	p.stop()
	mu.Lock()
	defer mu.Unlock()
	for _, want := range records {
		if err := same(got[want.Offset], want); err != nil {
			t.Errorf("record %d: %v", want.Offset, err)
		}
	}
}

func same(got eventRecord, want *kgo.Record) error {
	if !sameBytes(got.Key, want.Key) || !sameBytes(got.Value, want.Value) {
		return fmt.Errorf("key or value differs")
	}
	if got.Timestamp != want.Timestamp.UnixMilli() {
		return fmt.Errorf("timestamp %d, want %d", got.Timestamp, want.Timestamp.UnixMilli())
	}
	if len(got.Headers) != len(want.Headers) {
		return fmt.Errorf("%d headers, want %d", len(got.Headers), len(want.Headers))
	}
	for i, h := range want.Headers {
		signed, ok := got.Headers[i][h.Key]
		if !ok || len(signed) != len(h.Value) {
			return fmt.Errorf("header %d is %v, want %q: %v", i, got.Headers[i], h.Key, h.Value)
		}
		for j, b := range signed {
			if byte(b) != h.Value[j] {
				return fmt.Errorf("byte %d of header %d is %d, want %d", j, i, b, h.Value[j])
			}
		}
	}
	return nil
}

// sameBytes compares base64 with what it should hold; nil is nil.
func sameBytes(got *string, want []byte) bool {
	if got == nil || want == nil {
		return got == nil && want == nil
	}
	return *got == base64.StdEncoding.EncodeToString(want)
}

// Files that are hostile rather than wrong end quickly with exit code 1, one line for each mistake that counts, and
// nothing of what is secret.
func TestHostileFilesAreRefused(t *testing.T) {
	good := "clusters: {main: {bootstrapServers: ['127.0.0.1:1']}}\nfunctions: {f: {url: 'http://127.0.0.1:2/'}}\n" +
		"mappings:\n  - {name: m, function: f, cluster: main, topics: [t]}\n"
	login := func(password string) string {
		return strings.Replace(good, "['127.0.0.1:1']", "['127.0.0.1:1'], sasl: {mechanism: PLAIN, username: u, "+password+"}", 1)
	}
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	cases := []struct{ name, content, says string }{
		{"anchors that multiply", bomb.String(), "anchors expanded"},
		{"an anchor that holds itself", "defaults: &d\n  x: *d\n", "holds itself"},
		{"ten megabytes", good + "# " + strings.Repeat("x", 10_000_000), "is larger than"},
		{"binary", string([]byte{0, 1, 2, 3, 0xff}), "is not YAML"},
		{"deep nesting", "a: " + strings.Repeat("[", 100_000), "is not YAML"},
		{"three thousand wrong mappings", "mappings:\n" + strings.Repeat("  - {bad: 1}\n", 3000), "is required"},
		{"a secret that never ends", login(`password: "${file:/dev/zero}"`), "is larger than"},
		{"a secret that is a folder", login(`password: "${file:/}"`), "is a directory"},
		{"a secret beside a wrong key", login("password: hunter2, pasword: hunter3"), "did you mean password?"},
		{"a secret of the wrong type", login("password: [hunter2]"), "is not text"},
		{"a user name in a URL", strings.Replace(good, "http://", "http://user:hunter2@", 1), "user name"},
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "hostile.yaml")
			if err := os.WriteFile(file, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), path, "validate", "-f", file)
			cmd.WaitDelay = 20 * time.Second
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 1 {
				t.Errorf("exit code %d", code)
			}
			if !bytes.Contains(out, []byte(tc.says)) || len(out) > 200_000 {
				t.Errorf("%d bytes, without %q: %.300s", len(out), tc.says, out)
			}
			if bytes.Contains(out, []byte("hunter")) {
				t.Errorf("a secret in %.300s", out)
			}
		})
	}
}

func TestAnAddressInUseIsTold(t *testing.T) {
	r := newRig(t, kafkatest.Fake(t, kafkatest.Options{}), 1, function.Script{})
	first := start(t, r.yaml())
	file := filepath.Join(t.TempDir(), "sluice.yaml")
	yaml := strings.Replace(r.yaml(), "127.0.0.1:0", first.address, 1)
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), first.cmd.Path, "run", "-f", file)
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !bytes.Contains(out, []byte("server.listen")) || !bytes.Contains(out, []byte("in use")) {
		t.Errorf("exit code %d: %s", code, out)
	}
}
