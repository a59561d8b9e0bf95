package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

type config struct {
	brokers           []string
	topic, group, url string
	batch             int
	records           int64 // after which it ends; 0: never
}

// The fetch options of poller/group.
const (
	fetchBytes          = 16 << 20
	fetchPartitionBytes = 1 << 20
	fetchWait           = 500 * time.Millisecond
)

// runTimeout bounds the whole run.
const runTimeout = time.Hour

// Fetched chunks, of at most fetchPartitionBytes, wait for their partitions' goroutines: at most chunksMax in all, so that
// memory stays small and the caches warm, and at most chunksAhead for a partition, so that one that is slow for a
// moment does not hold up the fetches of the others.
const (
	chunksMax   = 32
	chunksAhead = 16
)

// loop is one run. The polling goroutine hands what it fetches to one goroutine per partition.
type loop struct {
	config
	client  *kgo.Client
	caller  func() *caller
	encoder *invoke.Encoder
	fail    context.CancelCauseFunc
	wg      sync.WaitGroup
	room    chan struct{}     // a token for each chunk that waits
	workers map[int32]*worker // of the polling goroutine
	mu      sync.Mutex
	list    []*worker // the same, for the committer; guarded by mu
}

func run(ctx context.Context, c config) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.Close()
	caller, err := newCallers(c.url)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, runTimeout)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := &loop{
		config: c, client: client, caller: caller, fail: cancel, workers: make(map[int32]*worker),
		room:    make(chan struct{}, chunksMax),
		encoder: invoke.NewEncoder(invoke.Source{BootstrapServers: c.brokers}),
	}
	var committing sync.WaitGroup
	committing.Go(func() { l.commitLoop(ctx) })
	l.poll(ctx)
	for _, w := range l.workers {
		close(w.chunks)
	}
	l.wg.Wait()
	cancel(nil)
	committing.Wait()
	if err := context.Cause(ctx); err != context.Canceled {
		return err
	}
	if err := l.commit(context.Background()); err != nil {
		return err
	}
	return client.LeaveGroupContext(context.Background())
}

func (c *config) client() (*kgo.Client, error) {
	return kgo.NewClient(
		kgo.SeedBrokers(c.brokers...),
		kgo.ConsumerGroup(c.group),
		kgo.ConsumeTopics(c.topic),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.KeepControlRecords(),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxBytes(fetchBytes),
		kgo.FetchMaxPartitionBytes(fetchPartitionBytes),
		kgo.FetchMaxWait(fetchWait),
	)
}

// poll fetches until the last record has been fetched, or ctx ends.
func (l *loop) poll(ctx context.Context) {
	fetched := int64(0)
	for l.records == 0 || fetched < l.records {
		fetches := l.client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			l.fail(err)
			return
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			if len(p.Records) == 0 {
				return
			}
			fetched += int64(len(p.Records))
			l.hand(ctx, p.Partition, p.Records)
		})
	}
}

// hand waits for room and gives a chunk to its partition's goroutine.
func (l *loop) hand(ctx context.Context, partition int32, chunk []*record.Record) {
	select {
	case l.room <- struct{}{}:
	case <-ctx.Done():
		return
	}
	select {
	case l.worker(ctx, partition).chunks <- chunk:
	case <-ctx.Done():
	}
}

// worker is the partition's goroutine, started when it is needed for the first time.
func (l *loop) worker(ctx context.Context, partition int32) *worker {
	w := l.workers[partition]
	if w == nil {
		w = newWorker(l, partition)
		l.workers[partition] = w
		l.mu.Lock()
		l.list = append(l.list, w)
		l.mu.Unlock()
		l.wg.Go(func() {
			if err := w.run(); err != nil {
				l.fail(err)
			}
		})
	}
	return w
}

// worker sends the records of one partition, in order, one call at a time.
type worker struct {
	loop   *loop
	chunks chan []*record.Record
	caller *caller
	runs   [1]record.Run
	event  []byte
	done   atomic.Int64 // the offset to commit
}

func newWorker(l *loop, partition int32) *worker {
	w := &worker{loop: l, chunks: make(chan []*record.Record, chunksAhead), caller: l.caller()}
	w.runs[0].TopicPartition = record.TopicPartition{Topic: l.topic, Partition: partition}
	return w
}

// run sends full batches, and what is left when the chunks end.
func (w *worker) run() error {
	var rest []*record.Record
	for chunk := range w.chunks {
		<-w.loop.room
		if len(rest) > 0 {
			chunk = append(rest, chunk...)
		}
		for len(chunk) >= w.loop.batch {
			if err := w.send(chunk[:w.loop.batch]); err != nil {
				return err
			}
			chunk = chunk[w.loop.batch:]
		}
		rest = append(rest[:0:0], chunk...)
	}
	if len(rest) > 0 {
		return w.send(rest)
	}
	return nil
}

func (w *worker) send(records []*record.Record) error {
	w.runs[0].Records = records
	w.event = w.loop.encoder.Append(w.event[:0], w.runs[:])
	if err := w.caller.call(w.event); err != nil {
		return err
	}
	w.done.Store(records[len(records)-1].Offset + 1)
	return nil
}

// commitLoop commits once a second.
func (l *loop) commitLoop(ctx context.Context) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		if err := l.commit(ctx); err != nil && ctx.Err() == nil {
			l.fail(err)
			return
		}
	}
}

func (l *loop) commit(ctx context.Context) error {
	offsets := make(map[int32]kgo.EpochOffset)
	l.mu.Lock()
	for _, w := range l.list {
		if done := w.done.Load(); done > 0 {
			offsets[w.runs[0].Partition] = kgo.EpochOffset{Epoch: -1, Offset: done}
		}
	}
	l.mu.Unlock()
	if len(offsets) == 0 {
		return nil
	}
	var failed error
	l.client.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{l.topic: offsets},
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, _ *kmsg.OffsetCommitResponse, err error) {
			failed = err
		})
	return failed
}
