package invoke

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluicehq/sluice/record"
)

// ParseBatchResponse reads the response of a function that reports batch item failures and says which records of
// runs it named: failed[i] lists, ascending, indexes into runs[i].Records. failed is nil where it named none.
//
// It carries Lambda's rules (AWS, «Reporting batch item failures», Kafka):
//
//   - all is well: an empty body, null, {}, an object without "batchItemFailures", or with an empty or null one. An
//     empty JSON string, which some runtimes write for nothing, is an empty body to us;
//   - the named records failed: each itemIdentifier is {"partition": "topic-0", "offset": 15}; the offset may be a
//     string of digits. A record named twice failed once;
//   - the whole batch failed, a Malformed error: a body that is not JSON or another JSON value, an identifier that is
//     missing, null, of another shape or without one of its members, and one that is not in the batch.
//
// Names are matched to the letter. Time and memory grow with the body (at most ResponseBytesMax) and the batch.
func ParseBatchResponse(body []byte, runs []record.Run) (failed [][]int, err *Error) {
	body = bytes.Trim(body, jsonBlanks)
	if namesNothing(body) {
		return nil, nil
	}
	if !json.Valid(body) {
		return nil, malformed(errors.New("response is not JSON"))
	}
	r := responseReader{runs: runs}
	if cause := r.response(body); cause != nil {
		return nil, malformed(cause)
	}
	for i := range r.failed {
		slices.Sort(r.failed[i])
		r.failed[i] = slices.Compact(r.failed[i])
	}
	return r.failed, nil
}

// namesNothing knows the usual forms of «all is well» without parsing.
func namesNothing(body []byte) bool {
	switch string(body) {
	case "", "null", "{}", `""`, `{"batchItemFailures":[]}`, `{"batchItemFailures": []}`, `{"batchItemFailures":null}`:
		return true
	}
	return false
}

func malformed(cause error) *Error {
	return &Error{
		Kind: Malformed, Status: 200, Err: fmt.Errorf("batch response: %w", cause),
		Hint: `return {"batchItemFailures": [{"itemIdentifier": {"partition": "topic-0", "offset": 15}}]}, or take ReportBatchItemFailures out of functionResponseTypes`,
	}
}

// responseReader marks the records that a response names.
type responseReader struct {
	runs   []record.Run
	index  map[identifier]position // made when the first record is named
	failed [][]int
}

// identifier is a record as the function names it, position where it stands in the batch.
type (
	identifier struct {
		partition string
		offset    int64
	}
	position struct{ run, record int }
)

func (r *responseReader) response(body []byte) error {
	if body[0] != '{' {
		return fmt.Errorf("want an object, got %s", describe(body))
	}
	return jsonMembers(body, func(name, value []byte) error {
		if string(name) != "batchItemFailures" || string(value) == "null" {
			return nil
		}
		if value[0] != '[' {
			return fmt.Errorf("batchItemFailures: want an array, got %s", describe(value))
		}
		return jsonElements(value, func(i int, item []byte) error {
			if err := r.item(item); err != nil {
				return fmt.Errorf("batchItemFailures[%d]: %w", i, err)
			}
			return nil
		})
	})
}

// item reads {"itemIdentifier": {"partition": "topic-0", "offset": 15}} and marks the record. Other members are left
// alone; of a member given twice the last one counts.
func (r *responseReader) item(item []byte) error {
	if item[0] != '{' {
		return fmt.Errorf("want an object with itemIdentifier, got %s", describe(item))
	}
	id := member(item, "itemIdentifier")
	if id == nil {
		return errors.New("itemIdentifier is missing")
	}
	if id[0] != '{' {
		return fmt.Errorf("itemIdentifier: want an object with partition and offset, got %s", describe(id))
	}
	partition, offset := member(id, "partition"), member(id, "offset")
	if partition == nil || partition[0] != '"' {
		return fmt.Errorf("itemIdentifier.partition: want topic and partition as a string, such as \"orders-0\", got %s", describe(partition))
	}
	number, ok := parseOffset(offset)
	if !ok {
		return fmt.Errorf("itemIdentifier.offset: want a whole number, got %s", describe(offset))
	}
	return r.mark(identifier{string(jsonText(partition)), number})
}

// member is the value of the object's member, nil if there is none.
func member(object []byte, want string) (found []byte) {
	_ = jsonMembers(object, func(name, value []byte) error {
		if string(name) == want {
			found = value
		}
		return nil
	})
	return found
}

func (r *responseReader) mark(id identifier) error {
	if r.index == nil {
		r.index, r.failed = indexOf(r.runs), make([][]int, len(r.runs))
	}
	pos, ok := r.index[id]
	if !ok {
		return fmt.Errorf("itemIdentifier: %s@%d is not in the batch", cut(id.partition, 300), id.offset)
	}
	// A body may name one record many times: keep the list near the size of the run.
	list := append(r.failed[pos.run], pos.record)
	if len(list) > 2*len(r.runs[pos.run].Records) {
		slices.Sort(list)
		list = slices.Compact(list)
	}
	r.failed[pos.run] = list
	return nil
}

// indexOf finds records by the names that the event gave them.
func indexOf(runs []record.Run) map[identifier]position {
	n := 0
	for i := range runs {
		n += len(runs[i].Records)
	}
	index := make(map[identifier]position, n)
	for i := range runs {
		partition := runs[i].String()
		if !utf8.ValidString(partition) {
			partition = string([]rune(partition)) // as the event has it
		}
		for j, rec := range runs[i].Records {
			index[identifier{partition, rec.Offset}] = position{i, j}
		}
	}
	return index
}

// parseOffset takes 15 and "15", and 15.0 from runtimes that have one kind of number.
func parseOffset(value []byte) (int64, bool) {
	if len(value) == 0 {
		return 0, false
	}
	if value[0] == '"' {
		n, err := strconv.ParseInt(string(jsonText(value)), 10, 64)
		return n, err == nil
	}
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(value), 64)
	const exact = 1 << 53 // beyond it a float names several offsets
	if err != nil || f <= -exact || f >= exact || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// describe says in a few words what a value is.
func describe(value []byte) string {
	if value == nil {
		return "nothing"
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return cut(strings.ToValidUTF8(string(value[:min(len(value), 100)]), "\ufffd"), 64)
}

// cut shortens s to at most n bytes, at a rune's border.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
