package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// bare are clients with the fetch options of poller/group that poll, each in a group of its own, and keep what they get: what
// Kafka costs without Sluice.
type bare struct {
	clients               int
	brokers, topic, group string

	open   []*kgo.Client
	joined atomic.Int64
	cancel context.CancelFunc

	mu   sync.Mutex
	kept []*kgo.Record // of all
}

func (b *bare) start() error {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	for i := range b.clients {
		client, err := kgo.NewClient(
			kgo.SeedBrokers(strings.Split(b.brokers, ",")...), kgo.ConsumerGroup(fmt.Sprintf("%s-%d", b.group, i)),
			kgo.ConsumeTopics(b.topic), kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.DisableAutoCommit(),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.KeepControlRecords(), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
			kgo.FetchMaxBytes(4<<20), kgo.FetchMaxPartitionBytes(1<<20), kgo.FetchMaxWait(500*time.Millisecond),
			kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, assigned map[string][]int32) {
				if len(assigned) > 0 {
					b.joined.Add(1)
				}
			}),
		)
		if err != nil {
			return err
		}
		b.open = append(b.open, client)
		go func() {
			for ctx.Err() == nil {
				records := client.PollFetches(ctx).Records()
				b.mu.Lock()
				b.kept = append(b.kept, records...)
				b.mu.Unlock()
			}
		}()
	}
	return nil
}

func (b *bare) ready() bool { return int(b.joined.Load()) >= b.clients }

func (b *bare) held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int64(len(b.kept))
}

// lists is the memory of what only keeps the records: it is not the client's.
func (b *bare) lists() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return uint64(cap(b.kept)) * pointerBytes
}

const pointerBytes = 8

func (b *bare) stop(context.Context) error {
	b.cancel()
	for _, c := range b.open {
		c.Close()
	}
	return nil
}
