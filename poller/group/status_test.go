package group_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// A commit that is refused for a partition is a problem as one that is refused as a whole is.
func TestARefusedCommitShows(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	produce(c, "orders", 1, 5)
	var refused atomic.Bool
	refused.Store(true)
	k := c.Kfake()
	k.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if !refused.Load() {
			return nil, nil, false
		}
		return refuseCommit(req, kerr.GroupAuthorizationFailed), nil, true
	})
	m := join(t, c, "m", []string{"orders"}, target(fine), options{})
	until(t, "the problem shows", func() bool {
		_, err := m.feed.Problem()
		return m.feed.Settled() == 5 && errors.Is(err, kerr.GroupAuthorizationFailed)
	})
	refused.Store(false)
	m.stop()
}

// Records that were settled before the commit point could move are counted when it does.
func TestSettledRecordsAreCountedWhenTheirCommitComes(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	var mend atomic.Bool
	fn := target(func(int, []string) (invoke.Response, error) {
		body := `{"batchItemFailures":[{"itemIdentifier":{"partition":"orders-0","offset":0}}]}`
		if mend.Load() {
			body = ""
		}
		return invoke.Response{Status: 200, Body: []byte(body)}, nil
	})
	m := join(t, c, "m", []string{"orders"}, fn, options{partial: true, policy: failure.Policy{
		MaximumRetryAttempts: -1, InitialBackoff: 10 * time.Millisecond, MaximumBackoff: 10 * time.Millisecond,
	}, config: func(g *group.Config) {
		g.Limits.BatchingWindow = 200 * time.Millisecond
	}})
	until(t, "the position is committed", func() bool { return len(c.Committed("g-m")) == 1 })
	produce(c, "orders", 1, 5)
	until(t, "the others are settled and a few commits have passed", func() bool { return m.feed.Settled() == 4 && len(fn.list()) > 60 })
	mend.Store(true)
	until(t, "all are counted", func() bool { return m.metrics.Committed.Value() == 5 })
	m.stop()
}
