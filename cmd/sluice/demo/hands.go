package demo

import (
	"context"
	"sync"
)

// hands are the goroutines around the service: producers, watchers of dead letters, the clean-up.
type hands struct {
	kafka  *cluster
	scenes []*scene
	// producing ends with the demo's context; watching outlives it.
	producing context.Context
	watching  context.Context
	stopAll   context.CancelFunc
	producers sync.WaitGroup
	watchers  sync.WaitGroup

	mu     sync.Mutex
	err    error
	failed chan struct{} // closed with the first error
}

func startHands(ctx context.Context, kafka *cluster, scenes []*scene) *hands {
	h := &hands{kafka: kafka, scenes: scenes, producing: ctx, failed: make(chan struct{})}
	h.watching, h.stopAll = context.WithCancel(context.WithoutCancel(ctx))
	for _, s := range scenes {
		h.start(&h.producers, func() error { return s.produce(h.producing, kafka) })
		h.start(&h.watchers, func() error { return s.watchDeadLetters(h.watching, kafka) })
	}
	h.start(&h.watchers, func() error {
		cleanUp(h.watching, kafka, scenes)
		return nil
	})
	return h
}

// trickle starts slow producers.
func (h *hands) trickle() {
	for _, s := range h.scenes {
		h.start(&h.producers, func() error { return s.trickle(h.producing, h.kafka) })
	}
}

func (h *hands) start(group *sync.WaitGroup, f func() error) {
	group.Go(func() {
		err := f()
		h.mu.Lock()
		defer h.mu.Unlock()
		if err != nil && h.err == nil {
			h.err = err
			close(h.failed)
		}
	})
}

// stop waits for the producers, whose context has ended or who have done their work, ends the others, and returns the
// first error.
func (h *hands) stop() error {
	h.producers.Wait()
	h.stopAll()
	h.watchers.Wait()
	return h.err
}
