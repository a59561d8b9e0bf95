package httpfn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// These tests hold docs/FUNCTIONS.md to what it says.

func functionsPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/FUNCTIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is the page from a heading to the next one.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("no section %q", heading)
	}
	if i := strings.Index(rest, "\n#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// block is the first block of a language in a section.
func block(t *testing.T, section, language string) string {
	t.Helper()
	_, rest, _ := strings.Cut(section, "```"+language+"\n")
	text, _, ok := strings.Cut(rest, "\n```")
	if !ok {
		t.Fatalf("no block of %s in %q", language, section)
	}
	return text
}

// The record of all examples.
func exampleRun() record.Run {
	r := &record.Record{
		Topic: "orders", Partition: 0, Offset: 15, Timestamp: time.UnixMilli(1796033701000),
		Key: []byte("order-17"), Value: []byte(`{"orderId":"order-17","status":"NEW","total":42}`),
		Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("trace")}},
	}
	return record.Run{TopicPartition: record.TopicPartition{Topic: "orders"}, Records: []*record.Record{r}}
}

type payload interface {
	Encode(req *invoke.Request, runs []record.Run)
}

// TestExamplesOfRequests sends each form of a batch and compares what arrives with the page.
func TestExamplesOfRequests(t *testing.T) {
	page := functionsPage(t)
	for heading, encoder := range map[string]payload{
		"## payload: lambda": invoke.NewEncoder(invoke.Source{BootstrapServers: []string{"broker1.example.com:9092", "broker2.example.com:9092"}}),
		"## payload: raw":    invoke.NewRawEncoder(),
		"### Batches":        invoke.NewCloudEventsEncoder("main", false),
		"### Single events":  invoke.NewCloudEventsEncoder("main", true),
	} {
		t.Run(heading, func(t *testing.T) {
			runs := []record.Run{exampleRun()}
			req := &invoke.Request{Mapping: "orders", Attempt: 1, BatchID: invoke.BatchID("orders", runs)}
			encoder.Encode(req, runs)
			server, saw := eyewitness(t, false)
			if _, err := newFunction(t, Config{URL: server.URL}).Invoke(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			got := <-saw
			want, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(block(t, section(t, page, heading), "http"), "\n", "\r\n"))))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"Accept-Encoding", "Content-Length", "Traceparent", "User-Agent"} {
				got.header.Del(name)
			}
			if !maps.EqualFunc(got.header, want.Header, slices.Equal) {
				t.Errorf("headers\n%v\nthe page says\n%v", got.header, want.Header)
			}
			_, body, _ := strings.Cut(block(t, section(t, page, heading), "http"), "\n\n")
			if compact(t, got.body) != compact(t, []byte(body)) {
				t.Errorf("body\n%s\nthe page says\n%s", got.body, body)
			}
		})
	}
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rows are the cells of the first table of a section, without its head.
func rows(section string) [][]string {
	var table [][]string
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| ") {
			if len(table) > 0 {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		table = append(table, cells)
	}
	return table[2:]
}

var code = regexp.MustCompile("`[^`]*`")

// TestTableOfResponses reads each body of the table as the answer to the example's record.
func TestTableOfResponses(t *testing.T) {
	runs, seen := []record.Run{exampleRun()}, 0
	for _, row := range rows(section(t, functionsPage(t), "## What it answers")) {
		for _, body := range code.FindAllString(row[0], -1) {
			seen++
			named, err := invoke.ParseBatchResponse([]byte(strings.Trim(body, "`")), runs)
			got := "all is well"
			switch {
			case err != nil:
				got = "everything failed"
			case named != nil:
				got = fmt.Sprint(named)
			}
			want := row[1]
			switch {
			case strings.Contains(want, "everything failed"):
				want = "everything failed"
			case want != "all is well":
				want = "[[0]]"
			}
			if got != want {
				t.Errorf("%s: %s, the page says %s", body, got, want)
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d responses on the page", seen)
	}
}

// TestTableOfAttempts holds the kinds of errors to the table.
func TestTableOfAttempts(t *testing.T) {
	spends := map[string]bool{}
	for k := invoke.FunctionError; k < invoke.Canceled; k++ {
		spends[k.String()] = k.SpendsAttempt()
	}
	seen := map[string]bool{}
	for _, row := range rows(section(t, functionsPage(t), "### What spends an attempt")) {
		kind, attempt := row[1], row[2]
		is, known := spends[kind]
		if !known || is != (attempt == "spent") {
			t.Errorf("%s: attempt %s", kind, attempt)
		}
		seen[kind] = true
		for _, word := range strings.Split(row[0], ", ") {
			if status, err := strconv.Atoi(word); err == nil && kindOf(status).String() != kind {
				t.Errorf("%d is %v, the page says %s", status, kindOf(status), kind)
			}
		}
	}
	if len(seen) != len(spends) {
		t.Errorf("kinds on the page: %v, want %v", seen, spends)
	}
}

// TestExampleOfAnErrorInTheBody holds that the example is one.
func TestExampleOfAnErrorInTheBody(t *testing.T) {
	e := errorInBody(200, []byte(block(t, section(t, functionsPage(t), "## What it answers"), "json")))
	if e == nil || e.Type != "ValueError" || e.Message != "total is negative" {
		t.Errorf("error %v", e)
	}
}
