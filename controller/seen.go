package controller

import (
	"fmt"
	"time"

	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/record"
)

// seen is what the runner saw at its last look.
type seen struct {
	at                         time.Time
	lag                        int64
	lagKnown                   bool
	lagError                   string
	offsetsError               error
	failingSince               time.Time // since when offsets cannot be read; zero while they can
	recordsPerSec, bytesPerSec float64
	throttled                  bool
	offsets                    map[record.TopicPartition]Offsets
	partitions                 []partition
}

// failing is for how long offsets could not be read at the last look.
func (s *seen) failing() time.Duration {
	if s.failingSince.IsZero() {
		return 0
	}
	return s.at.Sub(s.failingSince)
}

// partition is one of our partitions at the last look.
type partition struct {
	inflight.State
	offsets Offsets
	known   bool // offsets holds something
	// moved is when it last made progress, or had nothing to do.
	moved time.Time
}

// update takes a new look over the old one.
func (s *seen) update(now time.Time, rd reading, states []inflight.State, m *mapping.Mapping, throttled bool) {
	before := make(map[record.TopicPartition]partition, len(s.partitions))
	for _, p := range s.partitions {
		before[p.TopicPartition] = p
	}
	s.at, s.throttled = now, throttled
	s.lag, s.lagKnown = lagOf(rd)
	s.lagError, s.offsetsError = "", rd.err
	if !s.lagKnown {
		s.lagError = unknown(rd)
	}
	if rd.err == nil {
		s.failingSince = time.Time{}
	} else if s.failingSince.IsZero() {
		s.failingSince = now
	}
	s.offsets = make(map[record.TopicPartition]Offsets, len(rd.offsets))
	for _, o := range rd.offsets {
		s.offsets[o.TopicPartition] = o
	}
	s.partitions = s.partitions[:0]
	for _, st := range states {
		p := partition{State: st, moved: now}
		p.offsets, p.known = s.offsets[st.TopicPartition]
		old, had := before[st.TopicPartition]
		if had && old.CommitPoint == st.CommitPoint && p.behind() {
			p.moved = old.moved
		}
		s.partitions = append(s.partitions, p)
	}
}

// behind says whether the partition has something to do.
func (p *partition) behind() bool {
	return p.Records > 0 || (p.known && p.offsets.End > p.CommitPoint)
}

// stalled is how long the partition has made no progress although it has lag.
func (p *partition) stalled(now time.Time) time.Duration {
	if !p.behind() {
		return 0
	}
	return max(now.Sub(p.moved), 0)
}

// owes says whether a partition of ours has given-up records that its destination has not confirmed.
func (s *seen) owes() bool {
	for i := range s.partitions {
		if h := s.partitions[i].Head; h != nil && h.Retry != nil && h.Retry.GiveUp != "" {
			return true
		}
	}
	return false
}

// stallShown is how long a partition may stand still before status calls that a stall: below, it is work in progress.
const stallShown = 3 * time.Second

// wait says what the partition waits for; nil if it has nothing to do.
func (p *partition) wait(throttled bool, problem string) *Wait {
	if !p.behind() {
		return nil
	}
	if p.Head != nil {
		return p.headWait()
	}
	w := &Wait{For: Slot, Records: p.Records, Record: p.At(p.CommitPoint)}
	switch {
	case p.Records == 0:
		w.For, w.Record = Fetch, ""
		if problem != "" {
			w.LastError = &LastError{Kind: "Kafka", Message: problem}
		}
	case throttled:
		w.For = Budget
	}
	return w
}

// headWait describes the run that is out, or that waits for its next try.
func (p *partition) headWait() *Wait {
	run := p.Head
	w := &Wait{For: Invocation, Record: run.At(run.First()), Records: len(run.Records)}
	h := run.Retry
	if h == nil {
		return w
	}
	since := h.Since.UTC()
	w.Since, w.Attempts, w.Invocations = &since, h.Attempts, h.Invocations
	w.LastError = &LastError{Kind: h.Last.Kind, Status: h.Last.Status, Type: h.Last.Type, Message: h.Last.Message}
	if p.Phase != inflight.Acquired {
		next := h.NotBefore.UTC()
		w.For, w.NextAttemptAt = Backoff, &next
	}
	if h.GiveUp != "" {
		w.For = Destination
	}
	return w
}

// state is the partition's state as status shows it.
func (p *partition) state() PartitionState {
	switch {
	case p.Phase == inflight.Draining:
		return Draining
	case p.Phase == inflight.Waiting:
		return Waiting
	case p.behind():
		return Flowing
	}
	return Idle
}

// status is the partition as the admin API tells it.
func (p *partition) status(now time.Time, throttled bool, problem string) PartitionStatus {
	st := PartitionStatus{Topic: p.Topic, Partition: p.Partition, State: p.state()}
	if p.known {
		end, lag := int64(p.offsets.End), p.offsets.Lag
		st.EndOffset, st.Lag = &end, &lag
		if c := int64(p.offsets.Committed); c >= 0 {
			st.Committed = &c
		}
	}
	if d := p.stalled(now); d >= stallShown {
		w := p.wait(throttled, problem)
		st.Stalled = &Stall{Since: p.moved.UTC(), Seconds: d.Seconds(), Reason: w.Reason()}
	}
	return st
}

// throttledBy says what the mapping's caps are, for a status that says they bind.
func throttledBy(m *mapping.Mapping) string {
	return fmt.Sprintf("throttled by pollerLimits: %g MB/s a poller", float64(m.PollerThroughput)/1e6)
}
