package group

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// assigned is called by the client with every assignment, before it looks up offsets.
func (f *Feed) assigned(_ context.Context, _ *kgo.Client, added map[string][]int32) {
	f.mu.Lock()
	f.joined = true
	for _, tp := range flatten(added) {
		f.opening[tp] = true
	}
	f.mu.Unlock()
	if len(added) > 0 {
		f.config.Log.Info("partitions assigned", "group", f.config.Group, "partitions", names(added))
	}
}

// positions is called by the client with the committed offsets of newly assigned partitions, before it fetches: it
// decides where each starts, opens the windows, and commits the starts of those that had no offset, before anything of
// them is handed out. An error has the client join the group anew.
func (f *Feed) positions(ctx context.Context, fetched map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	<-f.made
	logs, err := f.logs(ctx, fetched)
	if err != nil {
		f.mu.Lock()
		f.problem, f.problemAt = err, time.Now()
		f.mu.Unlock()
		return nil, err
	}
	f.flush()
	starts, stopped := f.openAll(fetched, logs)
	f.stop(ctx, stopped, logs)
	if !f.commitStarts(ctx, starts) {
		return nil, errors.New("the starting positions could not be committed")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for topic, partitions := range fetched {
		for p := range partitions {
			delete(f.opening, record.TopicPartition{Topic: topic, Partition: p})
		}
	}
	signal(f.dirty)
	return fetched, nil
}

// commitStarts commits until nothing is left of the given partitions, a few times. Other partitions' commits have time.
func (f *Feed) commitStarts(ctx context.Context, starts []record.TopicPartition) bool {
	for try := 0; len(starts) > 0; try++ {
		f.commit(ctx)
		f.mu.Lock()
		starts = slices.DeleteFunc(starts, func(tp record.TopicPartition) bool { return !f.set.Unstarted(tp) })
		f.mu.Unlock()
		if len(starts) > 0 && (try == startTries || !sleep(ctx, f.config.CommitInterval/2)) {
			return false
		}
	}
	return true
}

// startTries is how often a start that could not be committed is tried again before the group is joined anew.
const startTries = 4

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// openAll opens the windows and returns those whose start is to be committed, and the partitions that are not to be read,
// with the old ids of their topics where those were created anew before this feed.
func (f *Feed) openAll(fetched map[string]map[int32]kgo.Offset, logs *logs) (
	starts []record.TopicPartition, stopped map[record.TopicPartition]string,
) {
	now := time.Now()
	stopped = make(map[record.TopicPartition]string)
	var anew map[string][]int32
	f.mu.Lock()
	defer f.mu.Unlock()
	for topic, partitions := range fetched {
		for p, offset := range partitions {
			tp := record.TopicPartition{Topic: topic, Partition: p}
			at := record.Offset(offset.EpochOffset().Offset)
			delete(f.sought, tp)
			old := f.before(tp, logs.ids[topic])
			lapsed := f.outlived(topic)
			if lapsed || old != "" && f.config.OnRecreated == StopReading {
				if stopped[tp] = ""; !lapsed {
					stopped[tp], f.topics.stopped[topic] = old, true
				}
				partitions[p] = kgo.NewOffset().AtStart()
				f.set.Remove(tp)
				continue
			}
			if old != "" {
				anew = add(anew, tp)
			}
			if logs.unlisted[tp] {
				if at < 0 || old != "" {
					partitions[p], at = f.seek(old), 0
					f.sought[tp] = true
				}
				f.set.Assign(tp, at, true, now)
			} else {
				start, committed := f.begin(tp, at, offset.EpochOffset().Epoch, old, logs)
				f.set.Assign(tp, start, committed, now)
				if !committed { // else keep the client's epoch, by which it notices a truncated log
					partitions[p] = kgo.NewOffset().At(int64(start))
					starts = append(starts, tp)
				}
			}
			delete(f.paused, tp)
		}
	}
	f.resume(fetched)
	if anew != nil {
		f.config.Log.Warn("topics were deleted and created anew; reading them from their beginning", "partitions", names(anew))
	}
	return starts, stopped
}

// seek is a start that the client finds by itself as soon as it can. The window waits for it at 0, and moves on with
// the first record. old is the id of an earlier topic with the name, if there was one.
func (f *Feed) seek(old string) kgo.Offset {
	if f.config.Start == AtTimestamp && old == "" {
		return kgo.NewOffset().AfterMilli(f.config.StartAt.UnixMilli())
	}
	return kgo.NewOffset().AtStart()
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
// if there is none, epoch the leader epoch of the record before it, negative if unknown; old the id of the earlier topic
// that it is of, if it is not of this one.
func (f *Feed) begin(tp record.TopicPartition, at record.Offset, epoch int32, old string, logs *logs) (
	start record.Offset, committed bool,
) {
	oldest, newest := logs.oldest[tp], logs.newest[tp]
	log := f.config.Log.With("topic", tp.Topic, "partition", tp.Partition)
	switch {
	case old != "":
		return oldest, false
	case at < 0:
		return logs.start[tp], false
	case at < oldest:
		f.deleted(tp, at, oldest)
		return oldest, false
	case at > newest && epoch >= 0 && f.topics.tags[tp] != "":
		// The same topic, but shorter: an unclean election has cut it. By the epoch the client finds out where, and tells.
		log.Error("the committed offset is behind the end of the log, which was cut; looking for where",
			"committed", int64(at), "end", int64(newest))
		return at, true
	case at > newest:
		log.Error("the committed offset is behind the end of the log, which was cut or made anew; going on at its oldest record",
			"committed", int64(at), "end", int64(newest), "oldest", int64(oldest))
		return oldest, false
	}
	return at, true
}

// logs is what the brokers say of the partitions' logs.
type logs struct {
	oldest, newest, start map[record.TopicPartition]record.Offset
	// unlisted are the partitions of which they say nothing: without a leader, or with one that has just moved.
	unlisted   map[record.TopicPartition]bool
	partitions map[string]int    // of each topic, where it is known
	ids        map[string]string // of each topic that has one
}

// listTimeout bounds each question for offsets: a broker that does not answer must not hold up what others serve.
const listTimeout = 5 * time.Second

// logs lists the bounds of the partitions' logs, and where partitions without a committed offset start. A partition that
// cannot be listed is no reason to hold the others up: its committed offset is as good unchecked, and the client finds
// the oldest record, or the first of a time, when it can. Only where LATEST is must be known now.
func (f *Feed) logs(ctx context.Context, fetched map[string]map[int32]kgo.Offset) (*logs, error) {
	l := &logs{unlisted: make(map[record.TopicPartition]bool), partitions: make(map[string]int)}
	topics := slices.Collect(maps.Keys(fetched))
	admin := kadm.NewClient(f.client)
	ids, err := f.identify(ctx, admin, topics)
	if err != nil {
		return nil, err
	}
	l.ids = ids
	var errs []error
	ask := func(list func(context.Context, ...string) (kadm.ListedOffsets, error)) (kadm.ListedOffsets, error) {
		bounded, cancel := context.WithTimeout(ctx, listTimeout)
		defer cancel()
		return list(bounded, topics...)
	}
	pick := func(listed kadm.ListedOffsets, err error) map[record.TopicPartition]record.Offset {
		offsets, err := l.pick(fetched, listed, err)
		errs = append(errs, err)
		return offsets
	}
	listed, err := ask(admin.ListStartOffsets)
	for topic := range fetched {
		if _, failed := listed[topic][-1]; err == nil && !failed {
			l.partitions[topic] = len(listed[topic])
		}
	}
	l.oldest = pick(listed, err)
	l.newest = pick(ask(admin.ListEndOffsets))
	switch f.config.Start {
	case TrimHorizon:
		l.start = l.oldest
	case Latest:
		l.start = l.newest
	case AtTimestamp:
		l.start = pick(ask(func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
			return admin.ListOffsetsAfterMilli(ctx, f.config.StartAt.UnixMilli(), topics...)
		}))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(errs...); err != nil {
		if f.config.Start == Latest && l.unlistedNew(fetched) {
			return nil, err
		}
		f.config.Log.Warn("some partitions start unchecked", "group", f.config.Group, "error", err)
	}
	if err := f.origins(ctx, admin, topics, l); err != nil {
		return nil, err
	}
	if f.config.Start == Latest {
		if err := f.sinceOrigin(ctx, admin, fetched, l); err != nil {
			return nil, err
		}
	}
	l.start = f.grown(l)
	return l, nil
}

// sinceOrigin starts topics that came later than the others at what was produced since: LATEST means what comes after the
// mapping began, and not what comes after its client noticed the topic.
func (f *Feed) sinceOrigin(ctx context.Context, admin *kadm.Client, fetched map[string]map[int32]kgo.Offset, l *logs) error {
	f.mu.Lock()
	late := maps.Clone(f.origin.late)
	f.mu.Unlock()
	for topic, since := range late {
		if len(fetched[topic]) == 0 {
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, listTimeout)
		listed, err := admin.ListOffsetsAfterMilli(bounded, since.UnixMilli(), topic)
		cancel()
		for p := range fetched[topic] {
			o, ok := listed.Lookup(topic, p)
			if err != nil || !ok || o.Err != nil {
				return fmt.Errorf("list offsets of %s-%d since %s: %w", topic, p, since, errors.Join(err, o.Err))
			}
			l.start[record.TopicPartition{Topic: topic, Partition: p}] = record.Offset(o.Offset)
		}
	}
	return nil
}

// unlistedNew says whether the group has no offset for a partition that could not be listed.
func (l *logs) unlistedNew(fetched map[string]map[int32]kgo.Offset) bool {
	for tp := range l.unlisted {
		offset := fetched[tp.Topic][tp.Partition]
		if offset.EpochOffset().Offset < 0 {
			return true
		}
	}
	return false
}

// pick takes the offsets of the fetched partitions, and notes which are missing; the error names one of them.
func (l *logs) pick(fetched map[string]map[int32]kgo.Offset, listed kadm.ListedOffsets, err error) (map[record.TopicPartition]record.Offset, error) {
	offsets := make(map[record.TopicPartition]record.Offset)
	var missing error
	for topic, partitions := range fetched {
		for p := range partitions {
			tp := record.TopicPartition{Topic: topic, Partition: p}
			o, ok := listed.Lookup(topic, p)
			if ok && o.Err == nil {
				offsets[tp] = record.Offset(o.Offset)
				continue
			}
			l.unlisted[tp] = true
			switch {
			case ok:
				missing = fmt.Errorf("list offsets of %s: %w", tp, o.Err)
			case err != nil:
				missing = fmt.Errorf("list offsets: %w", err)
			default:
				missing = fmt.Errorf("list offsets of %s: the broker did not answer", tp)
			}
		}
	}
	return offsets, missing
}

// origins finds out when the group first read anything, and how many partitions the topics had then, which each commit
// says in its metadata. For a group that has never committed it is now, and what there is.
func (f *Feed) origins(ctx context.Context, admin *kadm.Client, topics []string, l *logs) error {
	f.mu.Lock()
	topics = slices.DeleteFunc(slices.Clone(topics), func(t string) bool { return f.origin.partitions[t] > 0 })
	f.mu.Unlock()
	if len(topics) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	commits, err := admin.FetchOffsets(bounded, string(f.config.Group))
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return fmt.Errorf("commits of group %s: %w", f.config.Group, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.origin.learn(commits, topics, l.partitions, l.ids, f.config.Regex != "", time.Now())
	return nil
}

// grown starts partitions that did not exist when the group first read its topics at their oldest record, and topics that
// did not exist when this feed began, whatever the starting position says.
func (f *Feed) grown(l *logs) map[record.TopicPartition]record.Offset {
	f.mu.Lock()
	defer f.mu.Unlock()
	start := make(map[record.TopicPartition]record.Offset, len(l.start))
	for tp, o := range l.start {
		if first := f.origin.partitions[tp.Topic]; f.topics.late[tp.Topic] || first > 0 && int(tp.Partition) >= first {
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
		delete(f.opening, tp)
	}
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, f.config.DrainTimeout)
	defer cancel()
	defer context.AfterFunc(f.calls, cancel)() // a feed that stops has waited for them already
	drained := f.await(ctx, func() bool { return !f.out(tps) })
	if !drained {
		f.config.Log.Warn("drain time is over; cancelling the calls that are out", "partitions", names(lost))
		f.cancel(tps)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeCommitTimeout)
	defer cancel()
	f.commit(last)
	f.forget(tps)
	f.config.Log.Info("partitions revoked", "group", f.config.Group, "partitions", names(lost), "drained", drained)
}

// revokeCommitTimeout bounds the commit that a revocation waits for.
const revokeCommitTimeout = 5 * time.Second

// lost is called by the client when partitions are another's already: nothing of them may be committed any more.
func (f *Feed) lost(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
	tps := flatten(lost)
	f.mu.Lock()
	f.joined = false
	clear(f.opening)
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
		delete(f.sought, tp)
	}
	f.unmatched(tps)
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
