package function

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/ledger"
)

// event is the Kafka event of Lambda (developer guide, «Using Lambda with self-managed Apache Kafka»), as far as the
// function looks at it.
type event struct {
	Records map[string][]eventRecord `json:"records"`
}

type eventRecord struct {
	Topic     string        `json:"topic"`
	Partition int32         `json:"partition"`
	Offset    record.Offset `json:"offset"`
	Key       []byte        `json:"key"` // base64
	Value     []byte        `json:"value"`
}

// decode reads an event. It refuses what a mapping must not send: no records, a record under another partition's key,
// keys or values that are not base64.
func decode(body []byte) (event, error) {
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return e, fmt.Errorf("event: %w", err)
	}
	if len(e.Records) == 0 {
		return e, fmt.Errorf("event: no records")
	}
	for key, records := range e.Records {
		if len(records) == 0 {
			return e, fmt.Errorf("event: no records under %q", key)
		}
		for _, r := range records {
			if tp := r.topicPartition(); tp.String() != key {
				return e, fmt.Errorf("event: %s stands under %q", tp.At(r.Offset), key)
			}
		}
	}
	return e, nil
}

func (r eventRecord) topicPartition() record.TopicPartition {
	return record.TopicPartition{Topic: r.Topic, Partition: r.Partition}
}

// runs are the event's records for the ledger, by partition, with their checksums.
func (e event) runs() []ledger.Run {
	var runs []ledger.Run
	for _, key := range slices.Sorted(maps.Keys(e.Records)) {
		records := e.Records[key]
		run := ledger.Run{
			TopicPartition: records[0].topicPartition(),
			Offsets:        make([]record.Offset, len(records)),
			Sums:           make([]uint32, len(records)),
		}
		for i, r := range records {
			run.Offsets[i], run.Sums[i] = r.Offset, ledger.Sum(r.Key, r.Value)
		}
		runs = append(runs, run)
	}
	return runs
}

// batchResponse is the answer of a function that reports partial failures.
type batchResponse struct {
	BatchItemFailures []batchItemFailure `json:"batchItemFailures"`
}

type batchItemFailure struct {
	ItemIdentifier itemIdentifier `json:"itemIdentifier"`
}

// itemIdentifier names a record: Partition is the key of the records map.
type itemIdentifier struct {
	Partition string        `json:"partition"`
	Offset    record.Offset `json:"offset"`
}
