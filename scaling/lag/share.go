package lag

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/sluicehq/sluice/record"
)

const (
	// gather is the least time between two rounds: readings that come in between share the next one. A lone mapping, which
	// reads once a second, never waits.
	gather = 50 * time.Millisecond
	// patience bounds a round. Where it is not enough or anything fails, each asks alone: a broker that is away holds up the
	// mappings that it concerns and no others, and each gets its own error.
	patience = 3 * time.Second
)

// round is one set of questions for several groups and topics. Measured with 1 000 idle mappings on one topic: five
// requests each would be half of all that they cost.
type round struct {
	topics, groups map[string]struct{} // guarded by the reader until the round is taken out
	done           chan struct{}
	// Written before done is closed.
	failed     bool
	start, end kadm.ListedOffsets
	committed  kadm.FetchOffsetsResponses
}

// shared asks together with others; nil where that did not work.
func (r *Reader) shared(ctx context.Context, group record.GroupID, topics []string) *answers {
	n, due := r.join(group, topics)
	if !due.IsZero() {
		r.lead(ctx, n, due)
	}
	select {
	case <-n.done:
	case <-ctx.Done():
		return nil
	}
	committed, ok := n.committed[string(group)]
	unknown := errors.Is(committed.Err, kerr.GroupIDNotFound) // it has not joined or committed yet
	if n.failed || !ok || committed.Err != nil && !unknown {
		return nil
	}
	a := &answers{start: only(n.start, topics), end: only(n.end, topics), committed: committed.Fetched}
	if unknown {
		a.committed = nil
	}
	return a
}

// join adds questions to the next round. Who is its first has to lead it, at the time that comes with it; for others that is
// zero.
func (r *Reader) join(group record.GroupID, topics []string) (n *round, due time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &round{topics: map[string]struct{}{}, groups: map[string]struct{}{}, done: make(chan struct{})}
		due = r.last.Add(gather)
	}
	r.next.groups[string(group)] = struct{}{}
	for _, t := range topics {
		r.next.topics[t] = struct{}{}
	}
	return r.next, due
}

// lead waits until the round is due, and asks. If its context ends before, nobody has an answer.
func (r *Reader) lead(ctx context.Context, n *round, due time.Time) {
	wait := time.NewTimer(time.Until(due))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
	r.mu.Lock()
	r.next, r.last = nil, time.Now() // who comes from now on wants to know how it stands then
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	n.failed = r.askAll(ctx, n) != nil
	close(n.done)
}

// askAll puts the questions of a round.
func (r *Reader) askAll(ctx context.Context, n *round) error {
	groups := slices.Collect(maps.Keys(n.groups))
	a, err := r.questions(ctx, slices.Collect(maps.Keys(n.topics)), func() error {
		n.committed = r.admin.FetchManyOffsets(ctx, groups...)
		return ctx.Err()
	})
	n.start, n.end = a.start, a.end
	return err
}

// only is what a list says of some topics.
func only(all kadm.ListedOffsets, topics []string) kadm.ListedOffsets {
	some := make(kadm.ListedOffsets, len(topics))
	for _, t := range topics {
		if partitions, ok := all[t]; ok {
			some[t] = partitions
		}
	}
	return some
}
