package group

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/record"
)

// pollLoop fetches and admits until ctx ends.
func (f *Feed) pollLoop(ctx context.Context) {
	for f.room(ctx) {
		fetches := f.poll(ctx)
		f.admit(fetches)
		if ctx.Err() != nil {
			return
		}
	}
}

// ask tells the client how much to fetch. It is called from the client's own goroutines, maybe before we hold it.
func (f *Feed) ask(fetch, partition int32) {
	<-f.made
	f.client.UpdateFetchMaxBytes(fetch, partition)
}

// poll waits for records. From now on until admit is done with them, flush waits.
func (f *Feed) poll(ctx context.Context) kgo.Fetches {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.mu.Lock()
	f.polling, f.unpoll, f.polled = true, cancel, make(chan struct{})
	f.mu.Unlock()
	return f.client.PollFetches(ctx)
}

// flush waits until records that a poll may have in hand are admitted or dropped. It is called before windows open:
// such records belong to earlier assignments. It does not take longer than it takes to end a poll.
func (f *Feed) flush() {
	f.mu.Lock()
	if !f.polling {
		f.mu.Unlock()
		return
	}
	f.unpoll()
	polled := f.polled
	f.mu.Unlock()
	<-polled
}

// admit hands fetched records to their windows.
func (f *Feed) admit(fetches kgo.Fetches) {
	sifted := f.sift(fetches)
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	records := 0
	// Errors first: the client hands out the news of a loss behind the records that it has fetched since.
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if p.Err != nil {
			f.fetchFailed(record.TopicPartition{Topic: p.Topic, Partition: p.Partition}, p.Err, now)
		}
	})
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) == 0 {
			return
		}
		tp := record.TopicPartition{Topic: p.Topic, Partition: p.Partition}
		records += len(p.Records)
		first, last := p.Records[0], p.Records[len(p.Records)-1]
		f.overtaken(tp, record.Offset(first.Offset), record.Offset(p.LogStartOffset))
		f.rewound(tp, record.Offset(first.Offset), now)
		wanted := sifted.next(p.Records)
		before := f.set.Bytes()
		f.set.Admit(tp, wanted, now)
		if !sifted.copied {
			f.shared.admitted(tp, wanted, f.set.Bytes()-before)
		}
		f.set.Pass(tp, record.Offset(last.Offset)+1, last.LeaderEpoch, now)
	})
	if records > 0 {
		f.problem = nil
		f.config.Metrics.Polled.Add(records)
		f.config.Metrics.FilteredOut.Add(sifted.out)
		f.total += int64(sifted.out) // settled as they came
		f.shared.part(f.set, f.config.BufferBytes)
		f.measure()
		signal(f.dirty) // control records and gaps move the commit point as well
	}
	f.serve(now)
	f.polling = false
	close(f.polled)
}

// rewound notices records from below what a window has already seen: the log was cut and written anew. In doubt they are
// delivered, from there on.
func (f *Feed) rewound(tp record.TopicPartition, first record.Offset, now time.Time) {
	next, owned := f.set.Next(tp)
	if !owned || first >= next {
		return
	}
	f.config.Log.Error("the partition's log was rewound; going on from there",
		"topic", tp.Topic, "partition", tp.Partition, "expected", int64(next), "offset", int64(first))
	f.truncate(tp, first, now)
}

// truncate goes on where the log was cut. News of it may be older than the assignment, or of a partition that is not ours
// any more.
func (f *Feed) truncate(tp record.TopicPartition, at record.Offset, now time.Time) {
	f.set.Truncate(tp, at, now)
	f.shared.forget(tp)
	f.unpause(tp)
}

// fetchFailed notes an error of the client. Errors that it will not get over by itself are told by readiness and
// status; it goes on trying.
func (f *Feed) fetchFailed(tp record.TopicPartition, err error, now time.Time) {
	var loss *kgo.ErrDataLoss
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, kgo.ErrClientClosed):
		return
	case unknownTopic(err):
		f.config.Metrics.PollingErrors.Inc(kafkaErrorName(err))
		f.doubt(tp.Topic, now)
		return
	case errors.As(err, &loss):
		f.config.Log.Error("the broker lost records that were read already; going on where its log ends",
			"topic", loss.Topic, "partition", loss.Partition, "read", loss.ConsumedTo, "offset", loss.ResetTo)
		f.truncate(tp, record.Offset(loss.ResetTo), now)
	}
	f.config.Metrics.PollingErrors.Inc(kafkaErrorName(err))
	if f.problem == nil || f.problem.Error() != err.Error() {
		f.config.Log.Warn("polling failed; trying again", "topic", tp.Topic, "partition", tp.Partition, "error", err)
	}
	f.problem, f.problemAt = err, time.Now()
}

// unknownTopic says whether a broker does not know a topic that it was asked for, by its id or its name.
func unknownTopic(err error) bool {
	return errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.UnknownTopicOrPartition)
}

// room waits until there is reason and room to poll, and pauses partitions. It reports false when ctx ends.
func (f *Feed) room(ctx context.Context) bool {
	for {
		f.mu.Lock()
		go_, again := f.plan(time.Now())
		f.mu.Unlock()
		if go_ {
			return ctx.Err() == nil
		}
		var later <-chan time.Time
		if again {
			later = time.After(stillAfter)
		}
		select {
		case <-f.hungry:
		case <-later:
		case <-ctx.Done():
			return false
		}
	}
}

// plan says whether to poll now, and if not, whether to look again in a while although nothing has happened. With a full
// buffer it polls only for pollers that wait in vain while more records would help them, and then not for the partitions
// that fill it.
//
// A partition that fills the buffer because it is busy is not paused: a fetch without it may wait for records of others
// for as long as fetchWaitMax, and it would run dry meanwhile. It makes room by itself, and soon.
func (f *Feed) plan(now time.Time) (poll, again bool) {
	f.pace.look(f.set, now)
	f.fetched.partitions(f.set.Partitions(), f.config.BufferBytes)
	full := f.held() >= f.config.BufferBytes
	if full && (len(f.waiters) == 0 || !f.starving()) {
		return false, false
	}
	share := f.share()
	f.set.Share(share)
	if !full && f.held() < share {
		return true, false // no partition can be over its share
	}
	var pause map[string][]int32
	open, busy := f.set.Partitions() == 0, false
	f.set.Each(func(tp record.TopicPartition, records int, bytes int64) {
		if !f.paused[tp] && cost(records, bytes) >= share {
			if f.pace.of(f.set, tp, now) >= share {
				busy = true
			} else {
				f.paused[tp] = true
				pause = add(pause, tp)
			}
		}
		open = open || !f.paused[tp]
	})
	if pause != nil {
		f.client.PauseFetchPartitions(pause)
	}
	if full && busy {
		return false, true
	}
	return open, false
}

// starving says whether some partition that is not paused has too little for a batch.
func (f *Feed) starving() bool {
	found := false
	f.set.Each(func(tp record.TopicPartition, _ int, _ int64) {
		found = found || !f.paused[tp] && f.set.Starving(tp)
	})
	return found
}

// unpause resumes the partition if it holds less than half of its share again. It is called when something of it has
// settled: a poll that is under way then waits for it, too.
func (f *Feed) unpause(tp record.TopicPartition) {
	if !f.paused[tp] || cost(f.set.Held(tp)) > f.share()/2 {
		return
	}
	delete(f.paused, tp)
	f.client.ResumeFetchPartitions(map[string][]int32{tp.Topic: {tp.Partition}})
}

// share is what one partition may hold: twice its part of the buffer, so that a partition is paused for being blocked
// and not for being busy. As the buffer overflows it shrinks: nobody gets more than the least at one and a half times the
// buffer.
func (f *Feed) share() int64 {
	buffer := f.config.BufferBytes
	share := min(2*buffer/int64(max(1, f.set.Partitions())), buffer)
	if over := f.held() - buffer; over > 0 {
		share -= share * min(2*over, buffer) / buffer
	}
	return max(share, partitionShareMin)
}

// partitionShareMin keeps the share of a partition useful where there are thousands.
const partitionShareMin = 64 << 10

// held is what the buffer holds, in bytes of memory.
func (f *Feed) held() int64 { return cost(f.set.Records(), f.set.Bytes()) }

func cost(records int, bytes int64) int64 { return bytes + inflight.RecordOverhead*int64(records) }

// measure shows the buffer in the metrics.
func (f *Feed) measure() {
	f.config.Metrics.BufferedRecords.Set(int64(f.set.Records()))
	f.config.Metrics.BufferedBytes.Set(f.set.Bytes())
}

func add(m map[string][]int32, tp record.TopicPartition) map[string][]int32 {
	if m == nil {
		m = make(map[string][]int32)
	}
	m[tp.Topic] = append(m[tp.Topic], tp.Partition)
	return m
}
