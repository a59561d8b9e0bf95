package lag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/record"
)

// answers is what the cluster said.
type answers struct {
	start, end kadm.ListedOffsets
	committed  kadm.OffsetResponses
	// atTime is asked for only where it is needed; nil otherwise.
	atTime kadm.ListedOffsets
}

// ask puts the three questions at the same time: together with others that ask now, or alone where that does not work.
func (r *Reader) ask(ctx context.Context, group record.GroupID, topics []string) (*answers, error) {
	if a := r.shared(ctx, group, topics); a != nil {
		return a, nil
	}
	var committed kadm.OffsetResponses
	a, err := r.questions(ctx, topics, func() (err error) {
		committed, err = r.committed(ctx, group)
		if errors.Is(err, kerr.GroupIDNotFound) { // it has not joined or committed yet
			committed, err = nil, nil
		}
		return err
	})
	a.committed = committed
	return a, err
}

// questions asks for the bounds of topics, and has the committed offsets asked for at the same time.
func (r *Reader) questions(ctx context.Context, topics []string, committed func() error) (*answers, error) {
	var (
		a    answers
		errs [3]error
		wg   sync.WaitGroup
	)
	wg.Go(func() {
		var err error
		a.start, err = r.admin.ListStartOffsets(ctx, topics...)
		errs[0] = asked("start offsets", err)
	})
	wg.Go(func() {
		var err error
		a.end, err = r.admin.ListCommittedOffsets(ctx, topics...)
		errs[1] = asked("end offsets", err)
	})
	wg.Go(func() { errs[2] = asked("committed offsets", committed()) })
	wg.Wait()
	return &a, cmp.Or(errs[:]...) // one will do: they mostly fail together
}

// committed asks the group's coordinator. franz-go remembers who that is, and forgets a coordinator that cannot be
// connected to only for requests that go to one broker by their nature; offsets of a group go another way, on which it
// would try the dead one until metadata leave it out. So another request makes it look again: the heartbeat of a member
// that there is none of, which changes nothing.
func (r *Reader) committed(ctx context.Context, group record.GroupID) (kadm.OffsetResponses, error) {
	offsets, err := r.admin.FetchOffsets(ctx, string(group))
	var dial *net.OpError
	if !errors.As(err, &dial) || dial.Op != "dial" {
		return offsets, err
	}
	look := kmsg.NewPtrHeartbeatRequest()
	look.Group, look.Generation = string(group), -1
	if _, err := look.RequestWith(ctx, r.client); err != nil {
		return nil, err
	}
	return r.admin.FetchOffsets(ctx, string(group))
}

// asked gives an error its subject. Some brokers that do not answer are no error of the whole: what they did not say is
// missing, and the partitions are found to be unknown.
func asked(what string, err error) error {
	var shards *kadm.ShardErrors
	if err == nil || errors.As(err, &shards) && !shards.AllFailed {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// askTimes asks for the offsets of a time, for the topics in which a partition was never committed.
func (r *Reader) askTimes(ctx context.Context, start Start, topics []string, a *answers) error {
	if start.Latest || start.At.IsZero() {
		return nil
	}
	var unread []string
	for _, t := range topics {
		for p := range a.end[t] {
			if a.position(t, p) == None {
				unread = append(unread, t)
				break
			}
		}
	}
	if len(unread) == 0 {
		return nil
	}
	at, err := r.admin.ListOffsetsAfterMilli(ctx, start.At.UnixMilli(), unread...)
	a.atTime = at
	return asked("list offsets", err)
}

// position is what the group committed for a partition, or None.
func (a *answers) position(topic string, partition int32) record.Offset {
	o, ok := a.committed.Lookup(topic, partition)
	if !ok || o.At < 0 {
		return None
	}
	return record.Offset(o.At)
}
