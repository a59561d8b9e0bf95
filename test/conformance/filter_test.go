package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// filters is what holds of filters on every Kafka.
var filters = []one{
	{"each row of the table in docs/FILTERS.md", documentedMismatches},
	{"what no pattern matches is committed, counted and never invoked", filteredOut},
	{"a bisected batch and a dead letter hold matching records alone", filteredFailures},
}

func TestFiltersOnKfake(t *testing.T) {
	suite(t, filters, func(t *testing.T) *kafkatest.Cluster { return kafkatest.Fake(t, kafkatest.Options{}) })
}

// mismatch is a row of the table.
type mismatch struct {
	line       int
	value      []byte
	pattern    string
	pass, drop bool
}

// mismatches reads the table.
func mismatches(t *testing.T) []mismatch {
	t.Helper()
	text, err := os.ReadFile("../../docs/FILTERS.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []mismatch
	inside := false
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "<!-- mismatch: begin"):
			inside = true
		case strings.HasPrefix(line, "<!-- mismatch: end"):
			inside = false
		case inside && strings.Contains(line, "{\"value\""):
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			if len(cells) != 4 {
				t.Fatalf("line %d: %d cells", i+1, len(cells))
			}
			rows = append(rows, mismatch{
				line: i + 1, value: cellValue(cells[0]), pattern: strings.Trim(cells[1], "`"),
				pass: cells[2] == "delivered", drop: cells[3] == "delivered",
			})
		}
	}
	if len(rows) < 20 {
		t.Fatalf("only %d rows", len(rows))
	}
	return rows
}

// cellValue is what a cell says of a value: *words*, or bytes in backquotes with a remark behind them.
func cellValue(cell string) []byte {
	switch {
	case strings.HasPrefix(cell, "*tombstone*"):
		return nil
	case strings.HasPrefix(cell, "*empty*"):
		return []byte{}
	case strings.HasPrefix(cell, "*not UTF-8*"):
		return []byte("a\xff\xfe")
	}
	return []byte(strings.Split(cell, "`")[1])
}

// documentedMismatches runs one mapping for each pattern and each filterMismatch over a topic with all values.
func documentedMismatches(t *testing.T, c *kafkatest.Cluster) {
	rows := mismatches(t)
	r := newRig(t, c, 1, function.Script{})
	var recs []*kgo.Record
	for i, row := range rows {
		recs = append(recs, &kgo.Record{Topic: r.topic, Key: fmt.Append(nil, i), Value: row.value})
	}
	c.Produce(recs...)
	e := serve(t, nil)
	var yaml strings.Builder
	fmt.Fprintf(&yaml, "server: {listen: '127.0.0.1:0'}\nclusters: {main: {bootstrapServers: ['%s']}}\n", strings.Join(r.bootstrap, "','"))
	var patterns []string
	for _, row := range rows {
		if !slices.Contains(patterns, row.pattern) {
			patterns = append(patterns, row.pattern)
		}
	}
	fmt.Fprint(&yaml, "functions:\n")
	for i := range patterns {
		for _, rule := range []string{"pass", "drop"} {
			fmt.Fprintf(&yaml, "  %s-%d: {url: '%s', headers: {X-Mapping: '%[1]s-%[2]d'}}\n", rule, i, e.url)
		}
	}
	fmt.Fprint(&yaml, "mappings:\n")
	for i, p := range patterns {
		for _, rule := range []string{"pass", "drop"} {
			fmt.Fprintf(&yaml, "  - {name: %[1]s-%[2]d, cluster: main, function: %[1]s-%[2]d, topics: [%[3]s], consumerGroupId: %[3]s-%[1]s-%[2]d, %[4]s, filterMismatch: %[1]s, filterCriteria: {filters: [{pattern: '%[5]s'}]}}\n",
				rule, i, r.topic, fast, p)
		}
	}
	p := start(t, yaml.String(), "--until-lag-zero")
	if code := p.wait(60 * time.Second); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	delivered := map[string]bool{} // mapping, row
	for _, g := range e.all() {
		for _, key := range keysOf(t, g.body) {
			delivered[g.header.Get("X-Mapping")+" "+key] = true
		}
	}
	for i, row := range rows {
		for rule, want := range map[string]bool{"pass": row.pass, "drop": row.drop} {
			name := fmt.Sprintf("%s-%d", rule, slices.Index(patterns, row.pattern))
			if got := delivered[fmt.Sprintf("%s %d", name, i)]; got != want {
				t.Errorf("docs/FILTERS.md:%d: %q, %s, %s: delivered %v", row.line, row.value, row.pattern, rule, got)
			}
		}
	}
}

// keysOf lists the keys in a Lambda event.
func keysOf(t *testing.T, body []byte) []string {
	t.Helper()
	var event struct {
		Records map[string][]struct{ Key string }
	}
	if err := json.Unmarshal(body, &event); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, run := range event.Records {
		for _, rec := range run {
			key, err := base64.StdEncoding.DecodeString(rec.Key)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, string(key))
		}
	}
	return keys
}

// everyTenth matches every tenth record of produce, by its number.
const everyTenth = `filterCriteria: {filters: [{pattern: {headers: {n: [{suffix: "0"}]}}}]}`

func filteredOut(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 3, function.Script{})
	r.produce(3, 3001) // the last one matches, those before it do not
	p := start(t, r.yaml("batchSize: 100", everyTenth, fast))
	r.settled(30 * time.Second)
	st := p.status()
	if st.Counts.Polled != 3001 || st.Counts.FilteredOut != 2700 || st.Counts.Invoked != 301 {
		t.Errorf("counts %+v", st.Counts)
	}
	p.stop()
	taken := 0
	for _, a := range r.function.Attempts() {
		taken += a.Records()
	}
	if taken != 301 {
		t.Errorf("%d records were invoked", taken)
	}
	// Nothing comes again.
	again := start(t, r.yaml("batchSize: 100", everyTenth), "--until-lag-zero")
	if code := again.wait(30 * time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := len(r.function.Attempts()); n == 0 || r.function.Attempts()[n-1].Records() == 0 {
		t.Errorf("%d attempts", n)
	}
	more := 0
	for _, a := range r.function.Attempts() {
		more += a.Records()
	}
	if more != taken {
		t.Errorf("%d records came again", more-taken)
	}
}

func filteredFailures(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{Rules: []function.Rule{{Action: function.Fail, Contains: poisonMark}}})
	r.produce(1, 1000, 500, 501)
	p := start(t, r.yaml("batchSize: 50", everyTenth, fast, quick, "maximumRetryAttempts: 1", "bisectBatchOnFunctionError: true", r.withDLQ()))
	r.settled(60 * time.Second)
	p.stop()
	letters := r.letters()
	if len(letters) != 1 || headers(letters[0])["n"] != "500" {
		t.Errorf("%d dead letters", len(letters))
	}
	for _, a := range r.function.Attempts() {
		if a.Records() > 50 {
			t.Errorf("a batch of %d", a.Records())
		}
	}
}
