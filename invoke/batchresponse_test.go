package invoke

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/record"
)

func responseRuns() []record.Run {
	return []record.Run{
		run(at("orders", 0, 15, 0), at("orders", 0, 16, 0), at("orders", 0, 20, 0)),
		run(at("orders", 3, 42, 0)),
		run(at("orders", 3, 43, 0)),
		run(at("a-1", 0, 1<<60, 0)),
	}
}

func named(parts ...string) string {
	for i, p := range parts {
		partition, offset, _ := strings.Cut(p, "@")
		parts[i] = fmt.Sprintf(`{"itemIdentifier":{"partition":%q,"offset":%s}}`, partition, offset)
	}
	return `{"batchItemFailures":[` + strings.Join(parts, ",") + `]}`
}

// TestParseBatchResponse pins Lambda's rules for batchItemFailures with Kafka's identifiers.
func TestParseBatchResponse(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       [][]int
	}{
		{"an empty body", "", nil},
		{"blanks", " \r\n", nil},
		{"null", "null", nil},
		{"an empty string", `""`, nil},
		{"an empty object", " {} ", nil},
		{"an empty list", `{"batchItemFailures":[]}`, nil},
		{"a null list", `{"batchItemFailures": null }`, nil},
		{"an empty list with other members", `{"ok":[1,{"a":[]}],"batchItemFailures":[ ],"n":null}`, nil},
		{"an object about something else", `{"statusCode":200,"body":"{}"}`, nil},
		{"a name in other letters is another member", `{"BatchItemFailures":[{"x":1}]}`, nil},
		{"one record", named("orders-0@16"), [][]int{{1}, nil, nil, nil}},
		{"records of several runs in any order", named("orders-3@43", "orders-0@20", "orders-0@15", "orders-3@42"), [][]int{{0, 2}, {0}, {0}, nil}},
		{"the same record twice", named("orders-0@15", "orders-0@15"), [][]int{{0}, nil, nil, nil}},
		{"an offset as a string", `{"batchItemFailures":[{"itemIdentifier":{"partition":"orders-0","offset":"15"}}]}`, [][]int{{0}, nil, nil, nil}},
		{"an offset as a float that is whole", named("orders-0@15.0"), [][]int{{0}, nil, nil, nil}},
		{"an offset beyond what floats hold", named("a-1-0@1152921504606846976"), [][]int{nil, nil, nil, {0}}},
		{"members beside the ones that count", `{"batchItemFailures":[{"why":["x"],"itemIdentifier":{"offset":42,"more":{"a":[{}]},"partition":"orders-3"}}]}`, [][]int{nil, {0}, nil, nil}},
		{"two lists count together", `{"batchItemFailures":[{"itemIdentifier":{"partition":"orders-0","offset":15}}],"batchItemFailures":[]}`, [][]int{{0}, nil, nil, nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseBatchResponse([]byte(c.body), responseRuns())
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("failed %v, want %v", got, c.want)
			}
		})
	}
}

func TestParseBatchResponseFailsTheWholeBatch(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"no JSON", `{"batchItemFailures":[`, "response is not JSON"},
		{"text", `ok`, "response is not JSON"},
		{"two values", `{} {}`, "response is not JSON"},
		{"nesting without end", strings.Repeat("[", 100_000), "response is not JSON"},
		{"a string", `"ok"`, `want an object, got "ok"`},
		{"a number", `7`, `want an object, got 7`},
		{"a list", `[]`, `want an object, got an array`},
		{"true", `true`, `want an object, got true`},
		{"failures that are no list", `{"batchItemFailures":{}}`, "batchItemFailures: want an array, got an object"},
		{"an item that is no object", `{"batchItemFailures":["orders-0"]}`, `batchItemFailures[0]: want an object with itemIdentifier, got "orders-0"`},
		{"an item without identifier", `{"batchItemFailures":[{}]}`, "batchItemFailures[0]: itemIdentifier is missing"},
		{"an identifier in other letters", `{"batchItemFailures":[{"ItemIdentifier":{}}]}`, "itemIdentifier is missing"},
		{"a null identifier", `{"batchItemFailures":[{"itemIdentifier":null}]}`, "itemIdentifier: want an object with partition and offset, got null"},
		{"an empty identifier", `{"batchItemFailures":[{"itemIdentifier":""}]}`, `got ""`},
		{"a Kinesis identifier", `{"batchItemFailures":[{"itemIdentifier":"15"}]}`, `got "15"`},
		{"an empty object", `{"batchItemFailures":[{"itemIdentifier":{}}]}`, "itemIdentifier.partition: want topic and partition as a string"},
		{"a bare partition number", `{"batchItemFailures":[{"itemIdentifier":{"partition":0,"offset":15}}]}`, `such as "orders-0", got 0`},
		{"no offset", `{"batchItemFailures":[{"itemIdentifier":{"partition":"orders-0"}}]}`, "itemIdentifier.offset: want a whole number, got nothing"},
		{"half an offset", named("orders-0@15.5"), "want a whole number, got 15.5"},
		{"an offset that is an object", named("orders-0@{}"), "want a whole number, got an object"},
		{"an offset that floats cannot tell", named("a-1-0@1.152921504606846976e18"), "want a whole number"},
		{"an offset in a gap", named("orders-0@15", "orders-0@17"), "batchItemFailures[1]: itemIdentifier: orders-0@17 is not in the batch"},
		{"a partition of another batch", named("orders-9@15"), "orders-9@15 is not in the batch"},
		{"the topic alone", named("orders@15"), "orders@15 is not in the batch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseBatchResponse([]byte(c.body), responseRuns())
			if err == nil {
				t.Fatalf("failed %v, want an error", got)
			}
			if err.Kind != Malformed || got != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("kind %v, failed %v, error %q, want Malformed and %q", err.Kind, got, err, c.want)
			}
			if len(err.Error()) > 1024 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestALongResponseStaysCheap(t *testing.T) {
	runs := responseRuns()
	body := named(slices.Repeat([]string{"orders-0@15"}, 50_000)...)
	var failed [][]int
	var err *Error
	if n := testing.AllocsPerRun(1, func() { failed, err = ParseBatchResponse([]byte(body), runs) }); n > 5*50_000 {
		t.Errorf("%v allocations for 50000 items", n)
	}
	if err != nil || !reflect.DeepEqual(failed[0], []int{0}) || cap(failed[0]) > 16 {
		t.Errorf("failed %v (room %d), %v", failed, cap(failed[0]), err)
	}
}

func FuzzParseBatchResponse(f *testing.F) {
	for _, s := range []string{"", "null", "{}", named("orders-0@15", "orders-3@43"), `{"batchItemFailures":[{"itemIdentifier":{"partition":"a-1-0","offset":"1152921504606846976"}}]}`, `{"a":[{"b":1e5}],"batchItemFailures":null}`, `"\ud800"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		runs := responseRuns()
		failed, err := ParseBatchResponse(body, runs)
		if err != nil {
			if err.Kind != Malformed || failed != nil {
				t.Fatalf("%v, %v", failed, err)
			}
			return
		}
		if failed != nil && len(failed) != len(runs) {
			t.Fatalf("%d lists for %d runs", len(failed), len(runs))
		}
		var names []string
		for i, list := range failed {
			for j, at := range list {
				if at < 0 || at >= len(runs[i].Records) || j > 0 && at <= list[j-1] {
					t.Fatalf("run %d: %v", i, list)
				}
				names = append(names, fmt.Sprintf("%s@%d", runs[i].TopicPartition, runs[i].Records[at].Offset))
			}
		}
		// What was understood, written down and read again, says the same.
		if again, err := ParseBatchResponse([]byte(named(names...)), runs); err != nil || len(names) > 0 && !reflect.DeepEqual(again, failed) {
			t.Fatalf("%v, %v; want %v", again, err, failed)
		}
		if len(strings.TrimSpace(string(body))) > 0 && !json.Valid(body) {
			t.Fatalf("%q passed", body)
		}
	})
}

func BenchmarkParseBatchResponse(b *testing.B) {
	runs := benchRuns(1, nil)
	for name, body := range map[string]string{
		"none": `{"batchItemFailures":[]}`,
		"one":  named("orders-0@1000003"),
		"ten":  named("orders-0@1000000", "orders-0@1000001", "orders-0@1000002", "orders-0@1000003", "orders-0@1000004", "orders-1@1000000", "orders-1@1000001", "orders-1@1000002", "orders-1@1000003", "orders-1@1000004"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseBatchResponse([]byte(body), runs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
