package lag

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sluicehq/sluice/record"
)

// errNoAnswer is what is wrong with a partition that a broker said nothing about.
var errNoAnswer = errors.New("its broker did not answer")

// TopicError says that nothing is known of a topic.
type TopicError struct {
	Topic string
	Err   error
}

// Error names the topic and the cause.
func (e *TopicError) Error() string { return fmt.Sprintf("topic %s: %v", e.Topic, e.Err) }

// Unwrap returns the cause.
func (e *TopicError) Unwrap() error { return e.Err }

// combine puts the answers together, partition by partition.
func (a *answers) combine(start Start) (Reading, error) {
	var (
		known   []Partition
		unknown problems
	)
	for tp := range a.seen() {
		if tp.Partition < 0 { // how kadm marks a topic that could not be listed
			unknown.add(&TopicError{Topic: tp.Topic, Err: a.errorOf(tp)})
			continue
		}
		p, err := a.partition(tp, start)
		if err != nil {
			unknown.add(fmt.Errorf("%s: %w", tp, err))
			continue
		}
		known = append(known, p)
	}
	return Reading{Partitions: sorted(known)}, unknown.error(len(known))
}

// seen are the partitions that either list of bounds names: one that only one of them has is unknown, not missing.
func (a *answers) seen() map[record.TopicPartition]struct{} {
	all := map[record.TopicPartition]struct{}{}
	for _, list := range []kadm.ListedOffsets{a.start, a.end} {
		list.Each(func(o kadm.ListedOffset) {
			all[record.TopicPartition{Topic: o.Topic, Partition: o.Partition}] = struct{}{}
		})
	}
	return all
}

func (a *answers) errorOf(tp record.TopicPartition) error {
	for _, list := range []kadm.ListedOffsets{a.end, a.start} {
		if o, ok := list.Lookup(tp.Topic, tp.Partition); ok && o.Err != nil {
			return o.Err
		}
	}
	return errNoAnswer
}

// partition is how one partition stands, or why that is unknown.
func (a *answers) partition(tp record.TopicPartition, start Start) (Partition, error) {
	first, err := offset(a.start, tp)
	if err != nil {
		return Partition{}, err
	}
	end, err := offset(a.end, tp)
	if err != nil {
		return Partition{}, err
	}
	if o, ok := a.committed.Lookup(tp.Topic, tp.Partition); ok && o.Err != nil {
		return Partition{}, fmt.Errorf("committed offset: %w", o.Err)
	}

	p := Partition{TopicPartition: tp, Start: first, End: end, Committed: a.position(tp.Topic, tp.Partition)}
	from := p.Committed
	switch {
	case from != None:
	case start.Latest:
		from = end
	case a.atTime != nil:
		if from, err = offset(a.atTime, tp); err != nil {
			return Partition{}, err
		}
	}
	// From the beginning, or from what is left if the broker has deleted where the group stands.
	from = max(from, first)
	p.Lag = max(int64(end-from), 0)
	return p, nil
}

func offset(list kadm.ListedOffsets, tp record.TopicPartition) (record.Offset, error) {
	o, ok := list.Lookup(tp.Topic, tp.Partition)
	switch {
	case !ok:
		return None, errNoAnswer
	case o.Err != nil:
		return None, o.Err
	}
	return record.Offset(o.Offset), nil
}

// problems counts what went wrong, and keeps one example: a broker that is away can have thousands of partitions.
type problems struct {
	first error
	n     int
}

func (p *problems) add(err error) {
	if p.first == nil || err.Error() < p.first.Error() { // always the same example, whatever the order
		p.first = err
	}
	p.n++
}

func (p *problems) error(known int) error {
	switch p.n {
	case 0:
		return nil
	case 1:
		return p.first
	}
	return fmt.Errorf("%d of %d partitions unknown, one is %w", p.n, p.n+known, p.first)
}
