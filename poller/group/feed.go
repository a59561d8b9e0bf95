package group

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/record"
)

// Feed is one mapping's membership. It satisfies poller.Feed and lifecycle.Part.
type Feed struct {
	lifecycle.Unit
	config Config
	client *kgo.Client
	made   chan struct{} // closed when client is set: callbacks may come before

	// fetched tells how large fetches become in memory.
	fetched *fetchSize
	// pace tells busy partitions from those that stand still; guarded by mu.
	pace pace
	// turn is our place before the function's gate.
	turn *poller.Turn
	// calls is the parent of all leases' contexts.
	calls     context.Context
	stopCalls context.CancelFunc

	spare sync.Pool // of *waiter, with nobody in it

	// life is the client's context: it ends when the group was not left in time.
	life context.Context
	kill context.CancelFunc

	// committing keeps commits one at a time, and a revoke's last commit behind all others.
	committing sync.Mutex
	complained time.Time // when the log told of a commit that failed; guarded by committing

	mu       sync.Mutex
	set      *inflight.Set                     // guarded by mu, as all below
	waiters  []*waiter                         // pollers that wait for a batch, first come first served
	leases   map[*inflight.Lease]*poller.Lease // what is out
	closed   bool                              // no more leases
	timer    *time.Timer                       // wakes serve
	armed    time.Time                         // when timer fires; zero if it does not
	timeouts *time.Timer                       // ends calls; timing says that it will
	timing   bool
	changed  chan struct{} // closed when something settles; nil while nobody awaits that
	settled  int           // records settled since the last commit
	hungry   chan struct{} // signals the poll loop that there may be room or need

	total int64 // records settled since New

	polling bool               // a poll is under way or its records are not admitted yet
	unpoll  context.CancelFunc // ends the poll that is under way
	polled  chan struct{}      // closed when that poll's records are admitted
	paused  map[record.TopicPartition]bool
	shared  shared // fetch responses that windows hold

	joined    bool                           // the group has given us an assignment, maybe an empty one
	opening   map[record.TopicPartition]bool // assigned, and their start is not known or not committed yet
	sought    map[record.TopicPartition]bool // the client finds their start; their window stands at 0 until then
	problem   error                          // the last poll error; nil after a success
	problemAt time.Time                      // when it occurred last
	unsaved   error                          // why the last commit failed; nil once one has arrived, or nothing is to commit
	origin    origin                         // of the group
	topics    topicLife

	dirty    chan struct{}      // wakes the commit loop
	uncommit context.CancelFunc // ends the commit that is under way
}

// New returns a feed that has not started.
func New(c Config) *Feed {
	c.withDefaults()
	f := &Feed{
		config: c, set: inflight.NewSet(c.Limits, c.Sizes),
		leases: make(map[*inflight.Lease]*poller.Lease),
		made:   make(chan struct{}), hungry: make(chan struct{}, 1), dirty: make(chan struct{}, 1),
		paused: make(map[record.TopicPartition]bool), opening: make(map[record.TopicPartition]bool),
		sought: make(map[record.TopicPartition]bool),
		origin: newOrigin(), topics: newTopicLife(c.Recreated), spare: sync.Pool{New: newWaiter},
	}
	f.fetched = newFetchSize(c.BufferBytes, f.ask)
	f.turn = poller.NewTurn(f.called)
	f.life, f.kill = context.WithCancel(context.Background())
	f.calls, f.stopCalls = context.WithCancel(f.life)
	context.AfterFunc(f.calls, f.cut)
	return f
}

// Start joins the group and begins to fetch. It returns at once: choosing a protocol, making the client and joining go on
// behind it and show in Joined and Problem.
func (f *Feed) Start(ctx context.Context) error {
	return f.Begin(ctx, func(_ context.Context, run lifecycle.Run) error {
		run.Go(func() error {
			if !f.dial(run.Fetching()) {
				f.close()
				f.kill()
				return nil
			}
			run.Go(func() error {
				f.commitLoop(run.Fetching())
				return nil
			})
			run.Go(func() error {
				f.watchTopics(run.Fetching())
				return nil
			})
			f.pollLoop(run.Fetching())
			f.leave(run.Working())
			return nil
		})
		return nil
	})
}

// close has nothing handed out any more.
func (f *Feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, w := range f.waiters {
		close(w.ch)
	}
	f.waiters = nil
}

// leave ends the membership in order: nothing is handed out any more, what is out settles or is cancelled when working
// ends, what is settled is committed, and the group is told.
func (f *Feed) leave(working context.Context) {
	f.close()
	settled := func() bool { return len(f.leases) == 0 }
	f.await(working, settled)
	f.stopCalls()
	last, cancel := outliving(working, goodbyeTimeout)
	defer cancel()
	// What was cancelled settles at once, with nothing taken; what does not is left behind.
	cut, cancel := context.WithTimeout(last, cutTimeout)
	f.await(cut, settled)
	cancel()
	f.commit(last)
	if err := f.client.LeaveGroupContext(last); err != nil {
		f.config.Log.Warn("leaving the group", "group", f.config.Group, "error", err)
		f.kill() // else Close waits for it, or for a join that others hold up
	}
	f.client.Close()
	f.kill()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timeouts != nil {
		f.timeouts.Stop()
	}
}

// goodbyeTimeout is what the last commit and leaving the group may take beyond the time that a stop has; cutTimeout is
// what calls may take of it that were cancelled.
const (
	goodbyeTimeout = 5 * time.Second
	cutTimeout     = time.Second
)

// outliving is a context that ends a while after ctx.
func outliving(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(by, cancel)
		context.AfterFunc(last, func() { t.Stop() })
	})
	return last, func() {
		stop()
		cancel()
	}
}

// await waits until done, which is asked under the mutex whenever something has settled, or until ctx ends. It
// reports whether done was true.
func (f *Feed) await(ctx context.Context, done func() bool) bool {
	for {
		f.mu.Lock()
		if done() {
			f.mu.Unlock()
			return true
		}
		if f.changed == nil {
			f.changed = make(chan struct{})
		}
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// signal wakes a loop without waiting for it.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
