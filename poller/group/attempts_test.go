package group_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// A record fails for ever, it may be tried four times, and after each attempt comes a rebalance. Attempts go on where the
// partition stays with its owner and begin anew where it moves: it is at most the four and one for each change of owner,
// if one comes after each attempt, and then the record is a dead letter.
func TestRebalancesDoNotHideTheLastAttempt(t *testing.T) {
	const allowed, rebalances = 4, 3
	for _, moves := range []bool{false, true} {
		t.Run(fmt.Sprintf("the partition moves: %t", moves), func(t *testing.T) {
			virtual(t, func(t *testing.T, c *kafkatest.Cluster) {
				c.CreateTopic("orders", 1, nil)
				produce(c, "orders", 1, 1)
				fn := target(func(int, []string) (invoke.Response, error) { return invoke.Response{}, broken() })
				dest := &held{}
				dest.open.Store(true)
				o := options{
					policy: failure.Policy{MaximumRetryAttempts: allowed - 1, Destination: true, InitialBackoff: 5 * time.Second, MaximumBackoff: 5 * time.Second},
					dest:   dest,
					rand:   func() float64 { return 1 }, // each attempt 5 s after the one before
				}
				owner := join(t, c, "m", []string{"orders"}, fn, o)
				for n := 1; n <= rebalances; n++ {
					until(t, "an attempt", func() bool { return len(fn.list()) >= n })
					other := join(t, c, "m", []string{"orders"}, fn, o)
					c.WaitMembers("g-m", 2, time.Minute)
					if moves {
						owner, other = other, owner
					}
					other.stop()
					c.WaitMembers("g-m", 1, time.Minute)
					until(t, "the owner is settled", owner.feed.Joined)
				}
				until(t, "the record is a dead letter", func() bool { return len(c.Lag("g-m", "orders")) == 0 })
				owner.stop()
				want := allowed
				if moves {
					want += rebalances
				}
				if calls := fn.list(); len(calls) > want {
					t.Errorf("%d attempts, want %d at most", len(calls), want)
				}
				if letters := []string{"orders-0@0 RetryAttemptsExhausted"}; !slices.Equal(dest.got, letters) {
					t.Errorf("dead letters %v", dest.got)
				}
				t.Logf("%d attempts", len(fn.list()))
			})
		})
	}
}
