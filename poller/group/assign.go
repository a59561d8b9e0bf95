package group

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// assigned is called by the client with every assignment, before it looks up offsets.
func (f *Feed) assigned(_ context.Context, _ *kgo.Client, added map[string][]int32) {
	f.mu.Lock()
	f.joined = true
	f.mu.Unlock()
	if len(added) > 0 {
		f.config.Log.Info("partitions assigned", "group", f.config.Group, "partitions", names(added))
	}
}

// positions is called by the client with the committed offsets of newly assigned partitions, before it fetches: it
// decides where each starts and opens the windows. An error has the client join the group anew.
func (f *Feed) positions(ctx context.Context, fetched map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	<-f.made
	logs, err := f.logs(ctx, fetched)
	if err != nil {
		f.mu.Lock()
		f.problem = err
		f.mu.Unlock()
		return nil, err
	}
	f.flush(ctx)
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	for topic, partitions := range fetched {
		for p, offset := range partitions {
			tp := record.TopicPartition{Topic: topic, Partition: p}
			start, committed := f.begin(tp, record.Offset(offset.EpochOffset().Offset), logs)
			f.set.Assign(tp, start, committed, now)
			delete(f.paused, tp)
			if committed {
				continue // keep the client's epoch, by which it notices a truncated log
			}
			partitions[p] = kgo.NewOffset().At(int64(start))
		}
	}
	f.resume(fetched)
	signal(f.dirty)
	return fetched, nil
}

// resume undoes pauses of earlier assignments.
func (f *Feed) resume(fetched map[string]map[int32]kgo.Offset) {
	list := make(map[string][]int32)
	for topic, partitions := range fetched {
		for p := range partitions {
			list[topic] = append(list[topic], p)
		}
	}
	f.client.ResumeFetchPartitions(list)
}

// begin is where a partition starts, and whether that is its committed offset. at is the committed offset, negative
// if there is none.
func (f *Feed) begin(tp record.TopicPartition, at record.Offset, logs *logs) (start record.Offset, committed bool) {
	oldest, newest := logs.oldest[tp], logs.newest[tp]
	log := f.config.Log.With("topic", tp.Topic, "partition", tp.Partition)
	switch {
	case at < 0:
		return logs.start[tp], false
	case at < oldest:
		log.Error("retention has overtaken the committed offset; going on at the oldest record",
			"committed", int64(at), "oldest", int64(oldest), "lost", int64(oldest-at))
		return oldest, false
	case at > newest:
		log.Error("the committed offset is behind the end of the log, which was cut or made anew; going on at its oldest record",
			"committed", int64(at), "end", int64(newest), "oldest", int64(oldest))
		return oldest, false
	}
	return at, true
}

// logs is what the broker says of the partitions' logs.
type logs struct {
	oldest, newest, start map[record.TopicPartition]record.Offset
	partitions            map[string]int // of each topic
}

// logs lists the bounds of the partitions' logs, and where partitions without a committed offset start.
func (f *Feed) logs(ctx context.Context, fetched map[string]map[int32]kgo.Offset) (*logs, error) {
	var topics []string
	for t := range fetched {
		topics = append(topics, t)
	}
	admin := kadm.NewClient(f.client)
	l := &logs{partitions: make(map[string]int)}
	listed, err := admin.ListStartOffsets(ctx, topics...)
	for topic := range fetched {
		l.partitions[topic] = len(listed[topic])
	}
	if l.oldest, err = list(fetched)(listed, err); err != nil {
		return nil, err
	}
	if l.newest, err = list(fetched)(admin.ListEndOffsets(ctx, topics...)); err != nil {
		return nil, err
	}
	switch f.config.Start {
	case TrimHorizon:
		l.start = l.oldest
	case Latest:
		l.start = l.newest
	case AtTimestamp:
		if l.start, err = list(fetched)(admin.ListOffsetsAfterMilli(ctx, f.config.StartAt.UnixMilli(), topics...)); err != nil {
			return nil, err
		}
	}
	l.start = f.grown(l)
	return l, nil
}

// list picks the offsets of the fetched partitions; one that cannot be told is an error.
func list(fetched map[string]map[int32]kgo.Offset) func(kadm.ListedOffsets, error) (map[record.TopicPartition]record.Offset, error) {
	return func(listed kadm.ListedOffsets, err error) (map[record.TopicPartition]record.Offset, error) {
		if err != nil {
			return nil, fmt.Errorf("list offsets: %w", err)
		}
		offsets := make(map[record.TopicPartition]record.Offset)
		for topic, partitions := range fetched {
			for p := range partitions {
				o, ok := listed.Lookup(topic, p)
				if !ok {
					return nil, fmt.Errorf("list offsets of %s-%d: the broker did not answer", topic, p)
				}
				if o.Err != nil {
					return nil, fmt.Errorf("list offsets of %s-%d: %w", topic, p, o.Err)
				}
				offsets[record.TopicPartition{Topic: topic, Partition: p}] = record.Offset(o.Offset)
			}
		}
		return offsets, nil
	}
}

// grown starts partitions that a topic has gained while we were a member at their oldest record, whatever the starting
// position: they were empty when the mapping began.
func (f *Feed) grown(l *logs) map[record.TopicPartition]record.Offset {
	f.mu.Lock()
	defer f.mu.Unlock()
	start := make(map[record.TopicPartition]record.Offset, len(l.start))
	for tp, o := range l.start {
		known, ok := f.partitions[tp.Topic]
		if !ok {
			f.partitions[tp.Topic] = l.partitions[tp.Topic]
		} else if int(tp.Partition) >= known {
			o = l.oldest[tp]
		}
		start[tp] = o
	}
	return start
}

// revoked is called by the client when partitions move to another member, who gets them when it returns: what is out
// may settle for the drain time, then what is settled is committed.
func (f *Feed) revoked(ctx context.Context, _ *kgo.Client, lost map[string][]int32) {
	<-f.made
	tps := flatten(lost)
	if len(tps) == 0 {
		return
	}
	f.mu.Lock()
	for _, tp := range tps {
		f.set.Drain(tp)
	}
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, f.config.DrainTimeout)
	defer cancel()
	drained := f.await(ctx, func() bool { return !f.out(tps) })
	if !drained {
		f.config.Log.Warn("drain time is over; cancelling the calls that are out", "partitions", names(lost))
		f.cancel(tps)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCommitTimeout)
	defer cancel()
	f.commit(last)
	f.forget(tps)
	f.config.Log.Info("partitions revoked", "group", f.config.Group, "partitions", names(lost), "drained", drained)
}

// lost is called by the client when partitions are another's already: nothing of them may be committed any more.
func (f *Feed) lost(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
	tps := flatten(lost)
	if len(tps) == 0 {
		return
	}
	f.mu.Lock()
	if f.uncommit != nil {
		f.uncommit()
	}
	f.mu.Unlock()
	f.cancel(tps)
	f.forget(tps)
	f.config.Log.Warn("partitions lost", "group", f.config.Group, "partitions", names(lost))
}

// out says whether any of the partitions is held by a lease. The caller holds mu.
func (f *Feed) out(tps []record.TopicPartition) bool {
	for _, tp := range tps {
		if f.set.Out(tp) {
			return true
		}
	}
	return false
}

// cancel ends the calls that carry records of the partitions. Other partitions in the same batch are tried again.
func (f *Feed) cancel(tps []record.TopicPartition) {
	ours := make(map[record.TopicPartition]bool, len(tps))
	for _, tp := range tps {
		ours[tp] = true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for l, lease := range f.leases {
		for i := range l.Runs {
			if ours[l.Runs[i].TopicPartition] {
				lease.Cancel()
				break
			}
		}
	}
}

// forget removes the windows: what still comes back of them is stale.
func (f *Feed) forget(tps []record.TopicPartition) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, tp := range tps {
		f.set.Remove(tp)
		delete(f.paused, tp)
	}
	f.measure()
	signal(f.hungry)
}

func flatten(m map[string][]int32) []record.TopicPartition {
	var tps []record.TopicPartition
	for t, ps := range m {
		for _, p := range ps {
			tps = append(tps, record.TopicPartition{Topic: t, Partition: p})
		}
	}
	return tps
}
