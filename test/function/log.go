package function

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/ledger"
)

// line is one line of the log: an attempt begins, ends, or is refused. Lines stand in the order in which things
// happened, so that a ledger that reads them sees what one in the process would have seen (checksums excepted).
type line struct {
	Event   string    `json:"event"` // begin, end, refused
	Number  int64     `json:"number"`
	Time    time.Time `json:"time"`
	Mapping string    `json:"mapping,omitempty"`
	BatchID string    `json:"batchId,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Bytes   int       `json:"bytes,omitempty"`
	Hash    string    `json:"hash,omitempty"`
	Records []span    `json:"records,omitempty"` // of begin: what the batch holds
	Action  Action    `json:"action,omitempty"`
	Status  int       `json:"status,omitempty"`
	Failed  []span    `json:"failed,omitempty"` // of end: what was not taken
	Err     string    `json:"err,omitempty"`
}

// span is offsets without a gap, both ends included.
type span struct {
	Topic     string        `json:"topic"`
	Partition int32         `json:"partition"`
	First     record.Offset `json:"first"`
	Last      record.Offset `json:"last"`
}

// attemptLog writes lines. A nil log writes nothing.
type attemptLog struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *attemptLog) begin(a Attempt) {
	if l == nil {
		return
	}
	l.write(line{
		Event: "begin", Number: a.Number, Time: a.Begin, Mapping: a.Mapping, BatchID: a.BatchID, Attempt: a.Attempt,
		Bytes: a.BodyBytes, Hash: a.BodyHash,
		Records: spans(a.Runs, func(record.TopicPartition, record.Offset) bool { return true }),
	})
}

func (l *attemptLog) end(a Attempt, failed func(record.TopicPartition, record.Offset) bool) {
	if l == nil {
		return
	}
	if failed == nil {
		failed = func(record.TopicPartition, record.Offset) bool { return false }
	}
	l.write(line{
		Event: "end", Number: a.Number, Time: a.End, Action: a.Action, Status: a.Status, Err: a.Err,
		Failed: spans(a.Runs, failed),
	})
}

func (l *attemptLog) refused(a Attempt) {
	if l == nil {
		return
	}
	l.write(line{
		Event: "refused", Number: a.Number, Time: a.End, Mapping: a.Mapping, BatchID: a.BatchID, Attempt: a.Attempt,
		Bytes: a.BodyBytes, Status: a.Status, Err: a.Err,
	})
}

func (l *attemptLog) write(entry line) {
	text, err := json.Marshal(entry)
	if err != nil {
		panic(err) // our own type
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// A log that cannot be written makes Replay find attempts without an end, or none: it shows there.
	_, _ = l.w.Write(append(text, '\n'))
}

// spans are the runs' offsets that are wanted.
func spans(runs []ledger.Run, wanted func(record.TopicPartition, record.Offset) bool) []span {
	var all []span
	for _, run := range runs {
		first := len(all)
		for _, offset := range run.Offsets {
			if !wanted(run.TopicPartition, offset) {
				continue
			}
			if n := len(all); n > first && all[n-1].Last+1 == offset {
				all[n-1].Last = offset
				continue
			}
			all = append(all, span{run.Topic, run.Partition, offset, offset})
		}
	}
	return all
}

// lineMax bounds a line of the log: a batch of 10 000 records with a gap after each is under 1 MB.
const lineMax = 16 << 20

// Replay tells a ledger what a log holds. A last line that was cut off (the process was killed) is ignored.
func Replay(log io.Reader, l *ledger.Ledger) error {
	open := map[int64]ledger.Delivery{}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, lineMax)
	for n := 1; lines.Scan(); n++ {
		var entry line
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			if !lines.Scan() {
				return lines.Err()
			}
			return fmt.Errorf("log line %d: %w", n, err)
		}
		switch entry.Event {
		case "begin":
			open[entry.Number] = l.Begin(entry.Time, runs(entry.Records))
		case "end":
			delivery, ok := open[entry.Number]
			if !ok {
				return fmt.Errorf("log line %d: attempt %d ends without having begun", n, entry.Number)
			}
			delete(open, entry.Number)
			l.End(delivery, within(entry.Failed))
		}
	}
	return lines.Err()
}

func runs(spans []span) []ledger.Run {
	var all []ledger.Run
	for _, s := range spans {
		tp := record.TopicPartition{Topic: s.Topic, Partition: s.Partition}
		if len(all) == 0 || all[len(all)-1].TopicPartition != tp {
			all = append(all, ledger.Run{TopicPartition: tp})
		}
		run := &all[len(all)-1]
		for offset := s.First; offset <= s.Last; offset++ {
			run.Offsets = append(run.Offsets, offset)
		}
	}
	return all
}

func within(spans []span) func(record.TopicPartition, record.Offset) bool {
	return func(tp record.TopicPartition, offset record.Offset) bool {
		for _, s := range spans {
			if s.Topic == tp.Topic && s.Partition == tp.Partition && s.First <= offset && offset <= s.Last {
				return true
			}
		}
		return false
	}
}
