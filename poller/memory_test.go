package poller

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/record"
)

// memory is a feed in memory: partitions full of records, and windows that hand them out.
type memory struct {
	mu      sync.Mutex
	set     *inflight.Set
	gate    *Gate
	turn    *Turn
	idle    int           // who wait
	waiting chan struct{} // closed when something changed
}

func newMemory(limits inflight.Limits, e *invoke.Encoder) *memory {
	m := &memory{
		set:     inflight.NewSet(limits, inflight.Sizes{Event: e.Overhead(), Run: e.RunOverhead, Record: e.RecordSize}),
		waiting: make(chan struct{}), gate: NewGate(circuit.Limits{OutageProtection: true}),
	}
	m.turn = NewTurn(m.wake)
	return m
}

// fill gives a partition n records of size bytes, beginning at offset 0.
func (m *memory) fill(partition int32, n, size int, at time.Time) {
	tp := record.TopicPartition{Topic: "orders", Partition: partition}
	recs := make([]*record.Record, n)
	for i := range recs {
		recs[i] = &record.Record{Topic: tp.Topic, Partition: partition, Offset: int64(i), Value: make([]byte, size), Timestamp: at}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set.Assign(tp, 0, true, time.Now())
	m.set.Admit(tp, recs, time.Now())
	m.change()
}

func (m *memory) change() {
	close(m.waiting)
	m.waiting = make(chan struct{})
}

// Acquire is Feed's.
func (m *memory) Acquire(ctx context.Context, free *atomic.Int32) (*Lease, error) {
	for {
		m.mu.Lock()
		changed := m.waiting
		pass, ok, at := m.gate.Enter(time.Now(), m.turn)
		var l *inflight.Lease
		if ok {
			if l, at = m.set.Acquire(time.Now(), int(free.Load())); l == nil {
				m.gate.Cancel(pass)
			}
		}
		if l == nil {
			m.idle++
		}
		m.mu.Unlock()
		if l != nil {
			lctx, cancel := context.WithCancel(context.Background())
			return &Lease{Lease: l, Pass: pass, Context: lctx, Cancel: cancel}, nil
		}
		var due <-chan time.Time
		if !at.IsZero() {
			due = time.After(time.Until(at))
		}
		select {
		case <-changed:
		case <-due:
		case <-ctx.Done():
		}
		m.mu.Lock()
		m.idle--
		m.mu.Unlock()
		if ctx.Err() != nil {
			m.gate.Decline(m.turn)
			return nil, ctx.Err()
		}
	}
}

// wake has one of those who wait take its turn.
func (m *memory) wake() {
	m.mu.Lock()
	if m.idle == 0 {
		m.mu.Unlock()
		m.gate.Decline(m.turn)
		return
	}
	m.change()
	m.mu.Unlock()
}

// Settle is Feed's. It has the slot wait for the next batch.
func (m *memory) Settle(l *Lease, retry [][]record.Run, _ *atomic.Int32) *Lease {
	l.Cancel()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set.Settle(l.Lease, retry, time.Now())
	m.change()
	return nil
}

func (m *memory) left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.set.Records()
}

// fn is a function in the process.
type fn func(ctx context.Context, req *invoke.Request) (invoke.Response, error)

// Invoke is invoke.Function's.
func (f fn) Invoke(ctx context.Context, req *invoke.Request) (invoke.Response, error) {
	return f(ctx, req)
}

// dead is a destination that remembers.
type dead struct {
	mu  sync.Mutex
	got []record.Run
	err error
}

// Deliver is failure.Destination's.
func (d *dead) Deliver(ctx context.Context, run record.Run) ([]*record.Record, error) {
	if err := ctx.Err(); err != nil {
		return run.Records, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return run.Records, d.err
	}
	d.got = append(d.got, run)
	return nil, nil
}

var encoder = invoke.NewEncoder(invoke.Source{BootstrapServers: []string{"b:9092"}})

// pool makes a pool on a memory feed.
func pool(t *testing.T, m *memory, f fn, change func(*Config)) (*Pool, *metric.Mapping) {
	t.Helper()
	metrics := metric.New().Mapping("m")
	c := Config{
		Mapping: "m", Feed: m, Function: f, Gate: m.gate, Encoder: encoder, BatchBytesMax: 6 << 20,
		Buffers: invoke.NewBuffers(1 << 20), Policy: &failure.Policy{MaximumRetryAttempts: -1},
		Concurrency: 5, Metrics: metrics, Watch: &Watch{}, Log: slog.New(slog.DiscardHandler),
		Rand: func() float64 { return 0.5 },
	}
	if change != nil {
		change(&c)
	}
	return NewPool(c), metrics
}
