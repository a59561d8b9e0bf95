package topic

import (
	"context"
	"errors"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// chunkBytesMax bounds what is produced at once, so that a batch stays below the broker's default of max.message.bytes
// (1 048 588) whatever it holds. A larger record goes alone.
const chunkBytesMax = 900_000

// shipment is one Deliver on its way, while it holds the topic's gate.
type shipment struct {
	topic *Topic
	run   record.Run
	here  string  // the destination's place, see Topic.here
	errs  []error // by record of the run; nil where it is confirmed
	last  *flight // the newest, or nil
}

// letter is a dead letter with the index of its record in the run.
type letter struct {
	i int
	*kgo.Record
	bare bool // goes without its payload
}

// send writes the run chunk by chunk. It stops at the first failure that would meet the next chunk too, and gives the
// rest the same error.
func (s *shipment) send(ctx context.Context) {
	for from := 0; from < len(s.run.Records); {
		letters, next := s.chunk(from)
		s.ship(ctx, letters)
		if err := firstOf(s.errs[from:next], func(err error) bool { return !ofOneRecord(err) }); err != nil {
			for i := next; i < len(s.errs); i++ {
				s.errs[i] = err
			}
			return
		}
		from = next
	}
}

// chunk writes the next dead letters, and returns where the one after them begins. A record that must not go is noted
// and left out.
func (s *shipment) chunk(from int) (letters []letter, next int) {
	bytes := int64(0)
	for i := from; i < len(s.run.Records); i++ {
		r, err := s.topic.letter(s.run, i, s.here)
		if err != nil {
			s.errs[i] = err
			continue
		}
		bytes += record.Bytes(r)
		if len(letters) > 0 && bytes > chunkBytesMax {
			return letters, i
		}
		letters = append(letters, letter{i: i, Record: r})
	}
	return letters, len(s.run.Records)
}

// ship writes the letters. The topic refuses a batch for one record in it, so what comes back refused is tried again in
// halves, down to the record that is at fault.
func (s *shipment) ship(ctx context.Context, letters []letter) {
	if len(letters) == 0 {
		return
	}
	var back []letter
	for i, err := range s.produce(ctx, letters) {
		s.errs[letters[i].i] = err
		if refused(err) {
			back = append(back, letters[i])
		}
	}
	switch {
	case len(back) == 0:
	case len(letters) == 1:
		s.help(ctx, letters[0])
	case len(back) < len(letters):
		s.ship(ctx, back)
	default:
		s.ship(ctx, back[:len(back)/2])
		s.ship(ctx, back[len(back)/2:])
	}
}

// help tries what a letter that was refused alone may need: a key, or to travel without its payload.
func (s *shipment) help(ctx context.Context, l letter) {
	err := s.errs[l.i]
	// A record belongs to the client once it was produced, so this is another one.
	again := letter{l.i, &kgo.Record{Topic: l.Topic, Key: l.Key, Value: l.Value, Headers: l.Headers}, l.bare}
	switch {
	case errors.Is(err, kerr.InvalidRecord) && l.Key == nil:
		s.topic.compacted.Store(true) // what a compacted topic says to a record without key
		again.Key = ownKey(s.run, l.i)
	case tooLarge(err) && s.topic.config.Format == FormatAWS && !l.bare:
		again.Value, again.bare = s.topic.document(s.run, l.i, false), true
	default:
		return
	}
	s.ship(ctx, []letter{again})
}

// produce hands the letters to the client and waits until each is confirmed or has failed, or until ctx ends.
func (s *shipment) produce(ctx context.Context, letters []letter) []error {
	f := &flight{
		errs: make([]error, len(letters)), done: make([]bool, len(letters)),
		left: len(letters), landed: make(chan struct{}),
	}
	s.last = f
	for i, l := range letters {
		s.topic.config.Producer.client.Produce(ctx, l.Record, func(_ *kgo.Record, err error) { f.land(i, err) })
	}
	select {
	case <-f.landed:
		return f.errs
	case <-ctx.Done():
		return f.soFar(ctx.Err())
	}
}

// leave opens the gate once the client has let go of every letter. After a time-out that may take it the rest of its
// own request time-out.
func (s *shipment) leave() {
	if s.last == nil {
		s.topic.gate.leave()
		return
	}
	select {
	case <-s.last.landed:
		s.topic.gate.leave()
	default:
		go func() {
			<-s.last.landed
			s.topic.gate.leave()
		}()
	}
}

// undelivered lists the records without confirmation, and the first error among theirs.
func (s *shipment) undelivered() (list []*record.Record, err error) {
	for i, r := range s.run.Records {
		if s.errs[i] != nil {
			list = append(list, r)
		}
	}
	return list, firstOf(s.errs, func(error) bool { return true })
}

// flight is what has been handed to the client at once.
type flight struct {
	mu     sync.Mutex
	errs   []error // complete once landed is closed
	done   []bool
	left   int
	landed chan struct{}
}

func (f *flight) land(i int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs[i], f.done[i] = err, true
	if f.left--; f.left == 0 {
		close(f.landed)
	}
}

// soFar copies the outcomes, with err for what is still on its way.
func (f *flight) soFar(err error) []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	errs := make([]error, len(f.errs))
	for i := range errs {
		errs[i] = err
		if f.done[i] {
			errs[i] = f.errs[i]
		}
	}
	return errs
}

// ofOneRecord says that an error is about its own record, so that the next ones may fare better.
func ofOneRecord(err error) bool { return refused(err) || errors.Is(err, ErrLoop) }

// refused says that the topic does not take this batch, and would not later: there is nothing to wait for.
func refused(err error) bool { return tooLarge(err) || errors.Is(err, kerr.InvalidRecord) }

func tooLarge(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.RecordListTooLarge)
}

func firstOf(errs []error, is func(error) bool) error {
	for _, err := range errs {
		if err != nil && is(err) {
			return err
		}
	}
	return nil
}
