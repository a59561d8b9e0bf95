package demo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

const (
	// backlogMax is how many records the producer keeps ahead of what is settled, at most, so that memory does not
	// grow with --records.
	backlogMax = 100_000
	// tricklePerSecond is how many records are produced in a second while the demo is left running.
	tricklePerSecond = 100
)

// produce writes the scene's records, the poison one in their middle, or those until ctx ends.
func (s *scene) produce(ctx context.Context, kafka *cluster) error {
	p, err := s.newProducer(kafka)
	if err != nil {
		return err
	}
	for i := range s.records {
		if i%1000 == 0 && !p.room(ctx, i) {
			break
		}
		p.send(ctx, i, i == s.records/2)
	}
	return p.close(ctx)
}

// trickle goes on slowly until ctx ends.
func (s *scene) trickle(ctx context.Context, kafka *cluster) error {
	p, err := s.newProducer(kafka)
	if err != nil {
		return err
	}
	every := time.NewTicker(time.Second / tricklePerSecond)
	defer every.Stop()
	for i := s.records; p.failed() == nil; i++ {
		select {
		case <-every.C:
			p.send(ctx, i, false)
			continue
		case <-ctx.Done():
		}
		break
	}
	return p.close(ctx)
}

func (s *scene) newProducer(kafka *cluster) (*producer, error) {
	client, err := kafka.client(kgo.ProducerLinger(5 * time.Millisecond))
	return &producer{scene: s, client: client}, err
}

type producer struct {
	*scene
	client *kgo.Client

	mu  sync.Mutex
	err error // the first
}

// room waits while the i-th record would be too far ahead. It says false when ctx has ended or producing failed.
func (p *producer) room(ctx context.Context, i int) bool {
	for int64(i)-p.ledger.sums().settled() >= backlogMax {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil && p.failed() == nil
}

func (p *producer) send(ctx context.Context, i int, poison bool) {
	o := newOrder(i, poison)
	r := &kgo.Record{Topic: p.Topic(), Key: []byte(o.Customer), Value: o.encode()}
	// What was begun is ended: an acknowledgement that nobody waited for would be missing in the ledger.
	p.client.Produce(context.WithoutCancel(ctx), r, func(r *kgo.Record, err error) {
		if err != nil {
			p.fail(err)
			return
		}
		if poison {
			p.poison.Store(&spot{record.TopicPartition{Topic: r.Topic, Partition: r.Partition}, r.Offset})
		}
		p.ledger.produced(r.Partition, r.Offset, o.Amount)
	})
}

func (p *producer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = fmt.Errorf("produce to %s: %w", p.Topic(), err)
	}
}

func (p *producer) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// close waits for the last acknowledgements. That the demo was stopped is no error.
func (p *producer) close(ctx context.Context) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := p.client.Flush(last); err != nil {
		p.fail(err)
	}
	p.client.Close()
	return p.failed()
}
