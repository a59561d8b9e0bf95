package controller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/record"
)

func sortByName(runners []*runner) {
	slices.SortFunc(runners, func(a, b *runner) int { return strings.Compare(string(a.m.Name), string(b.m.Name)) })
}

// Status is the service at this moment.
func (c *Controller) Status() Status {
	s := Status{Version: c.options.Version, StartedAt: c.started.UTC(), Mappings: []MappingStatus{}}
	now := time.Now()
	for _, r := range c.runners {
		s.Mappings = append(s.Mappings, r.report(now))
	}
	return s
}

// Ready says whether every enabled mapping does its work, and names those that do not.
func (c *Controller) Ready() (ok bool, reasons []string) {
	now := time.Now()
	for _, r := range c.runners {
		r.mu.Lock()
		ready, reason := r.ready(now)
		r.mu.Unlock()
		if !ready {
			reasons = append(reasons, fmt.Sprintf("%s: %s", r.m.Name, reason))
		}
	}
	return len(reasons) == 0, reasons
}

// Decisions are the scaling decisions of a mapping, the newest first: those that changed something, and the last.
func (c *Controller) Decisions(name string) ([]Decision, error) {
	r, err := c.find(name)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decisions(historyMax), nil
}

// find takes a mapping's name or UUID.
func (c *Controller) find(name string) (*runner, error) {
	var names []string
	for _, r := range c.runners {
		if string(r.m.Name) == name || string(r.m.UUID) == name {
			return r, nil
		}
		names = append(names, string(r.m.Name))
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("mapping %q: %w; there are no mappings", name, ErrNotFound)
	}
	return nil, fmt.Errorf("mapping %q: %w; there are: %s", name, ErrNotFound, strings.Join(names, ", "))
}

func (r *runner) decisions(most int) []Decision {
	list := make([]Decision, 0, min(most, len(r.history)))
	for i := len(r.history) - 1; i >= 0 && len(list) < most; i-- {
		list = append(list, r.history[i])
	}
	return list
}

// stallUnready is how long a partition with lag may stand still before readiness tells, or twice the function's
// time-out if that is longer.
const stallUnready = time.Minute

// problemFades is how long after its last occurrence a problem with Kafka counts, if offsets are read meanwhile.
const problemFades = 15 * time.Second

// clusterUnready is how long a cluster may not answer before readiness tells.
const clusterUnready = 30 * time.Second

// ready says whether the mapping does its work. The caller holds mu.
func (r *runner) ready(now time.Time) (ok bool, reason string) {
	switch {
	case !r.m.Enabled:
		return true, ""
	case r.problem != "":
		return false, r.problem
	case r.adapters == nil:
		return false, "starting"
	case r.topicProblem() != "":
		return false, r.topicProblem()
	case !r.adapters.Feed.Joined():
		return false, r.notJoined()
	case r.watch.Held() != "" && r.seen.owes():
		return false, r.watch.Held()
	case !r.seen.failingSince.IsZero() && now.Sub(r.seen.failingSince) > clusterUnready:
		return false, fmt.Sprintf("cluster %s does not answer for %s: %s", r.m.Cluster, span(now.Sub(r.seen.failingSince)), r.kafkaProblem())
	}
	limit := max(stallUnready, 2*r.options.FunctionTimeout(r.m))
	for i := range r.seen.partitions {
		p := &r.seen.partitions[i]
		if d := p.stalled(now); d >= limit {
			w := p.wait(r.seen.throttled, r.kafkaProblem())
			return false, fmt.Sprintf("%s has made no progress for %s: %s", p.TopicPartition, span(d), w.Reason())
		}
	}
	return true, ""
}

func (r *runner) notJoined() string {
	if p := r.kafkaProblem(); p != "" {
		return "has not joined its group: " + p
	}
	return fmt.Sprintf("has not joined group %s yet", r.m.ConsumerGroupID)
}

// kafkaProblem says what is wrong with Kafka, in words; empty if nothing is known to be.
func (r *runner) kafkaProblem() string {
	if r.adapters == nil {
		return ""
	}
	at, err := r.adapters.Feed.Problem()
	switch {
	case err != nil && r.seen.lagKnown && r.seen.at.Sub(at) > problemFades && r.adapters.Feed.Joined():
		// An idle partition fetches nothing that would say so, but the cluster answers again.
		return ""
	case err == nil && (!r.adapters.Feed.Joined() || r.seen.failing() >= tellAfter):
		// The client tries for ever and says nothing; the same trouble shows where offsets are read.
		err = r.seen.offsetsError
	}
	if err == nil {
		return ""
	}
	return r.inWords(err)
}

// outage is what the function's circuit says while the function is down.
func (r *runner) outage() (st circuit.Status, down bool) {
	if r.adapters == nil {
		return st, false
	}
	st = r.adapters.Gate.Status()
	return st, st.State != circuit.Closed && !st.Since.IsZero()
}

// functionProblem says that the function is down, or held to few calls; empty if it is not.
func (r *runner) functionProblem(now time.Time) string {
	st, down := r.outage()
	if !down {
		return ""
	}
	cause := st.Cause.Kind
	if st.Cause.Status != 0 {
		cause += fmt.Sprintf(" %d", st.Cause.Status)
	}
	text := fmt.Sprintf("function %s has been down for %s (%s)", r.m.Function, span(now.Sub(st.Since)), cause)
	if st.Cause.Status != 0 {
		text += "; if it is the records that it cannot take, set outageProtection: off"
	}
	return text
}

func (r *runner) inWords(err error) string {
	if r.adapters.Explain == nil {
		return err.Error()
	}
	reason, hint := r.adapters.Explain(err)
	if hint != "" {
		reason += "; " + hint
	}
	return reason
}

// report is the mapping's status.
func (r *runner) report(now time.Time) MappingStatus {
	snap := r.metrics.Snapshot()
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.m
	st := MappingStatus{
		Name: string(m.Name), UUID: string(m.UUID), State: string(r.status.State), StateReason: "USER_INITIATED",
		ConsumptionMode: string(m.ConsumptionMode), Function: string(m.Function), Cluster: string(m.Cluster),
		Topics: slices.Clone(m.Topics), ConsumerGroupID: m.ConsumerGroupID, GroupProtocol: r.metrics.GroupProtocol.Value(), Provisioned: m.Provisioned,
		Pollers:          Pollers{Minimum: m.MinimumPollers, Maximum: m.MaximumPollers},
		RecordsPerSecond: r.seen.recordsPerSec, BytesPerSecond: r.seen.bytesPerSec,
		InFlight: InFlight{Records: snap.InFlightRecords, Batches: snap.InFlightBatches},
		Buffered: Buffered{Records: snap.BufferedRecords, Bytes: snap.BufferedBytes},
		Counts: Counts{
			Polled: snap.Polled, FilteredOut: snap.FilteredOut, Invoked: snap.Invoked, Failed: snap.FailedInvoke,
			Retried: snap.Retried, DeadLettered: snap.OnFailureDestinationDelivered, Dropped: snap.Dropped,
			LostToRetention: snap.LostToRetention, Committed: snap.Committed,
		},
		Partitions: []PartitionStatus{},
		Decisions:  r.decisions(5),
	}
	st.LastProcessingResult, st.StateReason = r.result()
	st.Ready, st.NotReadyReason = r.ready(now)
	st.Counts.Settled = r.settled
	if r.pool != nil {
		st.Pollers.Now = r.pool.Size()
		st.Counts.Settled += r.adapters.Feed.Settled()
	}
	if r.seen.lagKnown {
		lag := r.seen.lag
		st.Lag = &lag
	}
	if r.seen.throttled {
		st.Throttled = throttledBy(m)
	}
	problem := r.kafkaProblem()
	for i := range r.seen.partitions {
		st.Partitions = append(st.Partitions, r.seen.partitions[i].status(now, r.seen.throttled, problem))
	}
	return st
}

// result is the last processing result in AWS's words, and what stands behind the state.
func (r *runner) result() (result, reason string) {
	switch problem := r.kafkaProblem(); {
	case r.problem != "":
		return "PROBLEM: " + r.problem, r.problem
	case r.topicProblem() != "":
		return "PROBLEM: " + r.topicProblem(), r.topicProblem()
	case problem != "":
		return "PROBLEM: " + problem, problem
	}
	if down := r.functionProblem(time.Now()); down != "" {
		return "PROBLEM: Function call failed", down
	}
	result, detail := r.watch.Result(r.seen.owes())
	if detail == "" {
		detail = "USER_INITIATED"
	}
	return result, detail
}

// Explain says what a mapping waits for: in all its partitions, or in the one that is named; a name without a topic means
// this number in every topic.
func (c *Controller) Explain(name string, only *record.TopicPartition) (Explanation, error) {
	r, err := c.find(name)
	if err != nil {
		return Explanation{}, err
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	e := Explanation{Mapping: string(r.m.Name), State: string(r.status.State), Partitions: []PartitionExplanation{}}
	_, e.StateReason = r.result()
	problem := r.kafkaProblem()
	ps := slices.Clone(r.seen.partitions)
	slices.SortStableFunc(ps, func(a, b partition) int { return cmp.Compare(b.stalled(now), a.stalled(now)) })
	var lag int64
	for i := range ps {
		p := &ps[i]
		if only != nil && (p.Partition != only.Partition || only.Topic != "" && p.Topic != only.Topic) {
			continue
		}
		e.Partitions = append(e.Partitions, r.explain(p, now, problem))
		if p.known {
			lag += p.offsets.Lag
		}
	}
	if only != nil && len(e.Partitions) == 0 {
		return Explanation{}, r.missing(*only)
	}
	if r.seen.lagKnown {
		if only == nil {
			lag = r.seen.lag
		}
		e.Lag = &lag
	}
	e.Summary = r.summary(&e, now)
	if e.Summary == allSettled {
		e.StateReason = "" // the last failure has found its end
	}
	return e, nil
}

// allSettled is the summary of a mapping with nothing to do.
const allSettled = "everything is settled; there is no lag"

// summary is one sentence about the whole.
func (r *runner) summary(e *Explanation, now time.Time) string {
	if !r.m.Enabled {
		return "the mapping is disabled"
	}
	if ok, reason := r.ready(now); !ok {
		return reason
	}
	if down := r.functionProblem(now); down != "" {
		return down + r.lastWords(e)
	}
	waiting := 0
	for i := range e.Partitions {
		if w := e.Partitions[i].Wait; w != nil && (w.For == Backoff || w.For == Destination) {
			waiting++
		}
	}
	switch {
	case waiting > 0:
		return fmt.Sprintf("%d of %d partitions wait because records failed", waiting, len(e.Partitions))
	case e.Lag == nil:
		return r.seen.lagError
	case *e.Lag == 0:
		return allSettled
	case r.seen.throttled:
		return throttledBy(r.m)
	case r.m.ConsumptionMode == mapping.Stream && len(e.Partitions) == 0:
		return "other processes own all partitions"
	}
	return fmt.Sprintf("working: %d records of lag, %.0f records/s", *e.Lag, r.seen.recordsPerSec)
}

// lastWords is the last error of an outage, which the partitions that wait for its end do not repeat.
func (r *runner) lastWords(e *Explanation) string {
	for i := range e.Partitions {
		if w := e.Partitions[i].Wait; w != nil && r.waitsForFunction(w) && w.LastError.words() != "" {
			return "; the last error was " + w.LastError.words()
		}
	}
	return ""
}

// waitsForFunction says whether it is the outage that a partition waits for, and not its own pause alone.
func (r *runner) waitsForFunction(w *Wait) bool {
	st, down := r.outage()
	return down && w.For == Backoff && w.LastError != nil && w.LastError.Kind == st.Cause.Kind && w.LastError.Status == st.Cause.Status
}

func (r *runner) explain(p *partition, now time.Time, problem string) PartitionExplanation {
	e := PartitionExplanation{Topic: p.Topic, Partition: p.Partition, State: p.state()}
	if p.known {
		lag := p.offsets.Lag
		e.Lag = &lag
	}
	w := p.wait(r.seen.throttled, problem)
	if w == nil {
		e.Sentence = "nothing to do"
		return e
	}
	if most := r.m.MaximumRetryAttempts; w.Since != nil && most >= 0 {
		w.MaximumRetryAttempts = &most
	}
	e.Wait, e.Sentence = w, w.Sentence(now)
	if r.waitsForFunction(w) {
		e.Sentence = w.held(now)
	}
	return e
}

// missing says why a partition that was asked for has no explanation here.
func (r *runner) missing(tp record.TopicPartition) error {
	name := tp.String()
	if tp.Topic == "" {
		name = fmt.Sprintf("partition %d", tp.Partition)
	}
	last := map[string]int32{}
	for o := range r.seen.offsets {
		if o.Partition == tp.Partition && (tp.Topic == "" || o.Topic == tp.Topic) {
			return fmt.Errorf("%s: %w in this process: another one of group %s reads it now", name, ErrNotFound, r.m.ConsumerGroupID)
		}
		last[o.Topic] = max(last[o.Topic], o.Partition)
	}
	if len(last) == 0 {
		return fmt.Errorf("%s: %w; the partitions are not known yet", name, ErrNotFound)
	}
	var there []string
	for _, topic := range slices.Sorted(maps.Keys(last)) {
		if len(there) == topicsNamed {
			there = append(there, "…")
			break
		}
		there = append(there, fmt.Sprintf("%s has 0 to %d", topic, last[topic]))
	}
	return fmt.Errorf("%s: %w; %s", name, ErrNotFound, strings.Join(there, ", "))
}

// topicsNamed bounds the topics that one message names.
const topicsNamed = 5
