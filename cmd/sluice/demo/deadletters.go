package demo

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/failure/destination/topic"
)

// watchDeadLetters tells the ledger what the dead-letter topic gets, until ctx ends.
func (s *scene) watchDeadLetters(ctx context.Context, kafka *cluster) error {
	client, err := kafka.client(kgo.ConsumeTopics(s.DeadLetterTopic()))
	if err != nil {
		return err
	}
	defer client.Close()
	for ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			var o order
			partition, offset, ok := source(r, s.Topic())
			if err := json.Unmarshal(r.Value, &o); err != nil || !ok || partition >= s.partitions {
				kafka.log.Error("a dead letter that is none of ours", "topic", r.Topic, "offset", r.Offset)
				return
			}
			s.ledger.deadLettered(r.Timestamp, partition, offset, o.Amount)
		})
	}
	return nil
}

// source is where a dead letter says that it comes from.
func source(r *kgo.Record, want string) (partition int32, offset int64, ok bool) {
	headers := map[string]string{}
	for _, h := range r.Headers {
		headers[h.Key] = string(h.Value)
	}
	p, bad := strconv.ParseInt(headers[topic.HeaderPartition], 10, 32)
	o, worse := strconv.ParseInt(headers[topic.HeaderOffset], 10, 64)
	return int32(p), o, bad == nil && worse == nil && p >= 0 && headers[topic.HeaderTopic] == want
}

// poisoned says whether the poison record, and nothing else, is a dead letter.
func (s *scene) poisoned() bool {
	at := s.poison.Load()
	return at != nil && s.ledger.isDeadLetter(at.Partition, at.offset) && s.ledger.sums().DeadLettered == 1
}
