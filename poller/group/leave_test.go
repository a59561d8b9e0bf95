package group_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// cutWithin is how soon a feed is gone whose time to stop is over.
const cutWithin = 8 * time.Second

func stopAtOnce(t *testing.T, f *group.Feed) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_ = f.Stop(ctx)
	if took := time.Since(began); took > cutWithin {
		t.Errorf("Stop took %v", took)
	}
}

// A call that does not even end when it is cancelled does not hold up the stop, and takes no settled batch with it.
func TestACallThatNeverReturnsDoesNotHoldUpTheStop(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 2, nil)
	produce(c, "orders", 2, 20)
	release := make(chan struct{})
	fn := target(func(_ int, ids []string) (invoke.Response, error) {
		if tp, _ := split(ids[0]); tp == "orders-0" {
			<-release
		}
		return invoke.Response{Status: 200}, nil
	})
	m := join(t, c, "m", []string{"orders"}, fn, options{config: func(g *group.Config) {
		g.DrainTimeout, g.CommitInterval = 25*time.Second, time.Hour
	}})
	until(t, "one partition is done", func() bool { return len(fn.taken()) == 10 })
	stopAtOnce(t, m.feed)
	if lag := c.Lag("g-m", "orders"); len(lag) != 1 {
		t.Errorf("lag %v; want that of orders-0 alone", lag)
	}
	close(release)
}

// Another member that drains holds every join up for as long as a rebalance may take.
func TestAJoinThatIsHeldUpDoesNotHoldUpTheStop(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 2, nil)
	k := c.Kfake()
	release := make(chan struct{})
	var held atomic.Bool
	k.ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		k.SleepControl(func() {
			held.Store(true)
			<-release
		})
		return nil, nil, false
	})
	m := join(t, c, "m", []string{"orders"}, target(fine), options{})
	until(t, "it asks to join", held.Load)
	stopAtOnce(t, m.feed)
	close(release)
}

// A cluster that is gone ends nothing in order, but it ends.
func TestAClusterThatIsGoneDoesNotHoldUpTheStop(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 2, nil)
	produce(c, "orders", 2, 20)
	m := join(t, c, "m", []string{"orders"}, target(fine), options{config: func(g *group.Config) { g.CommitInterval = time.Hour }})
	until(t, "it works", func() bool { return m.feed.Settled() == 20 })
	c.Kfake().Close()
	stopAtOnce(t, m.feed)
}
