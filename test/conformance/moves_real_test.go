//go:build real

package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/network"
)

// offsetsTopic is where the brokers keep groups: who leads a partition of it coordinates the groups in it.
const offsetsTopic = "__consumer_offsets"

// backWithin is how soon every partition is read again after whatever happens to brokers.
const backWithin = time.Minute

// Three brokers whose roles move, that hang, and that cannot be heard. Each case is told in its own words.
func TestBrokersThatMoveAndHangLoseNothing(t *testing.T) {
	cluster := kafkatest.SharedThree(t)
	cases := []struct {
		name string
		run  func(t *testing.T, c *kafkatest.Cluster, r *rig, yaml string)
		// proxied says that Sluice comes through links, and not to the brokers themselves;
		// thorough is for the soak: the worst day has it, too.
		proxied, thorough bool
	}{
		{"leaders and coordinators move", leadersMove, false, false},
		{"the coordinator is killed", coordinatorDies, false, true},
		{"the coordinator hangs", coordinatorHangs, false, false},
		{"a connection is forgotten after a rebalance", forgottenAfterRebalance, true, false},
		{"brokers are silent while it stops", silentStop, true, false},
	}
	for _, tc := range cases {
		if tc.thorough && !hardship.thorough {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			c, began := cluster.For(t), time.Now()
			r := newRig(t, c, 6, function.Script{Seed: 4, Delay: 5 * time.Millisecond, Rules: []function.Rule{{Action: function.Fail, Share: 0.02}}})
			if tc.proxied {
				r.bootstrap = c.Proxied()
			}
			l := r.load(300)
			yaml := r.yaml(fast, "batchSize: 20", quick, unlimited)
			tc.run(t, c, r, yaml)
			l.end()
			p := start(t, yaml)
			r.settled(time.Minute)
			p.stop()
			report := r.judge()
			result(t, c, soakRow{run: "brokers: " + tc.name, took: time.Since(began), what: strings.Join(r.notes, "; ")}, report)
		})
	}
}

func leadersMove(t *testing.T, c *kafkatest.Cluster, r *rig, yaml string) {
	p := start(t, yaml)
	r.flowing("at the start", backWithin)
	var longest time.Duration
	for i := range hardship.moves {
		from := c.Coordinator(r.group)
		c.MoveLeaders(r.topic, offsetsTopic)
		took := r.flowing("after the move", backWithin)
		longest = max(longest, took)
		t.Logf("move %d: the coordinator went from broker %d to %d; all partitions were read again after %.2f s", i+1, from, c.Coordinator(r.group), took.Seconds())
	}
	r.note("%d moves; all partitions read again within %.1f s of each", hardship.moves, longest.Seconds())
	p.stop()
}

func coordinatorDies(t *testing.T, c *kafkatest.Cluster, r *rig, yaml string) {
	p := start(t, yaml)
	r.flowing("at the start", backWithin)
	id := c.Coordinator(r.group)
	c.Kill(id)
	r.note("broker %d killed; all partitions read again after %.1f s", id, r.flowing("without the coordinator", backWithin).Seconds())
	r.healthy(p, backWithin)
	c.Restart(id)
	c.WaitInSync(backWithin, r.topic, offsetsTopic)
	r.flowing("with the broker back", backWithin)
	p.stop()
}

// healthy waits until commits arrive of every partition, and status knows the lag and says that all is well.
func (r *rig) healthy(p *process, within time.Duration) {
	r.t.Helper()
	began := time.Now()
	r.committing(within)
	arrive := time.Since(began)
	p.until("status is well", within, func() bool {
		st := p.status()
		return st.Ready && st.Lag != nil && st.LastProcessingResult == "OK"
	})
	r.note("then commits arrived within %.1f s, and status was well after %.1f s", arrive.Seconds(), time.Since(began).Seconds())
}

func coordinatorHangs(t *testing.T, c *kafkatest.Cluster, r *rig, yaml string) {
	p := start(t, yaml)
	r.flowing("at the start", backWithin)
	id := c.Coordinator(r.group)
	c.Freeze(id)
	defer c.Thaw(id)
	r.note("broker %d stopped; all partitions read again after %.1f s", id, r.flowing("with a hung coordinator", backWithin).Seconds())
	r.healthy(p, backWithin)
	c.Thaw(id)
	c.WaitInSync(backWithin, r.topic, offsetsTopic)
	r.flowing("with the broker back", backWithin)
	p.stop()
}

func forgottenAfterRebalance(t *testing.T, c *kafkatest.Cluster, r *rig, yaml string) {
	first := start(t, yaml)
	r.flowing("at the start", backWithin)
	second := start(t, yaml)
	second.until("it has partitions", 30*time.Second, func() bool { return len(second.status().Partitions) > 0 })
	for i, link := range c.Links() {
		if i > 0 && !hardship.thorough {
			break
		}
		if err := link.Impair(network.Forget()); err != nil {
			t.Fatal(err)
		}
		took := r.flowing("with forgotten connections", backWithin)
		r.note("connections to broker %d forgotten; all partitions read again after %.1f s", i+1, took.Seconds())
	}
	second.stop()
	first.stop()
}

// silentStop is FAULTS 13.
func silentStop(t *testing.T, c *kafkatest.Cluster, r *rig, yaml string) {
	const drain = 3 * time.Second
	p := start(t, strings.Replace(yaml, "server: {", "server: {drainTimeout: 3s, ", 1))
	r.flowing("at the start", backWithin)
	c.Impair(network.Blackhole())
	time.Sleep(time.Second)
	used, began := p.cpu(), time.Now()
	p.stop()
	took := time.Since(began)
	used = p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime() - used
	r.note("with a drain time of %s it took %.1f s to stop, and %.2f s of CPU", drain, took.Seconds(), used.Seconds())
	if took > drain+8*time.Second {
		t.Errorf("it took %s to stop; the drain time is %s, and 5 s for the group", took, drain)
	}
	if used > took/4 {
		t.Errorf("the stop used %s of CPU in %s", used, took)
	}
	c.Heal()
	p = start(t, yaml)
	r.flowing("after the start", backWithin)
	p.stop()
}

// hardships are how much brokers have to bear.
type hardships struct {
	moves    int  // of leaders
	thorough bool // every case, and for every broker
}
