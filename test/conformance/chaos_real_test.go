//go:build real

package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// unlimited lets a test run as fast as its function.
const unlimited = "pollerLimits: {throughput: unlimited}"

// Each of three brokers is killed once; one of them coordinates the group. Then all are down at once.
func TestBrokersThatDieLoseNothing(t *testing.T) {
	c := kafkatest.SharedThree(t)
	r := newRig(t, c, 6, function.Script{Seed: 1, Delay: 40 * time.Millisecond, Rules: []function.Rule{{Action: function.Fail, Share: 0.05}}})
	r.produce(6, 6000)
	p := start(t, r.yaml("batchSize: 10", quick, unlimited, "provisionedPollerConfig: {minimumPollers: 2, maximumPollers: 2}"))
	p.until("records flow", time.Minute, func() bool { return r.taken() > 500 })
	for id := 1; id <= 3; id++ {
		r.produce(6, 6000)
		c.Kill(id)
		before := r.taken()
		p.until("records flow with a broker less", time.Minute, func() bool { return r.taken() > before+3000 })
		c.Restart(id)
		c.WaitInSync(time.Minute, r.topic, "__consumer_offsets")
	}
	r.produce(6, 6000)
	c.AllDown(func() {
		p.until("status says that Kafka is away", time.Minute, func() bool {
			return p.status().LastProcessingResult != "OK"
		})
	})
	before := r.taken()
	r.produce(6, 600) // what was there before may have been taken out of the buffer meanwhile
	p.until("records flow again by themselves", time.Minute, func() bool { return r.taken() > before })
	r.settled(3 * time.Minute)
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.judge()
}

// drained is yaml with a drain time.
func (r *rig) drained(timeout string, extra ...string) string {
	return strings.Replace(r.yaml(extra...), "server: {", "server: {drainTimeout: "+timeout+", ", 1)
}

// taken is how many records the function has taken so far.
func (r *rig) taken() int64 {
	total, _ := r.ledger.Progress()
	return total.Taken
}

// Somebody throws the member out of its group, as an operator can.
func TestAnEvictedMemberLosesNothing(t *testing.T) {
	c := kafkatest.Shared(t)
	r := newRig(t, c, 4, function.Script{Delay: 20 * time.Millisecond})
	r.produce(4, 6000)
	p := start(t, r.yaml(fast, "batchSize: 10", unlimited))
	for range 3 {
		before := r.taken()
		p.until("records flow", time.Minute, func() bool { return r.taken() > before+400 })
		evict(t, c, r.group)
	}
	r.settled(time.Minute)
	p.stop()
	r.judge()
}

// evict has all members of a group leave it.
func evict(t *testing.T, c *kafkatest.Cluster, group record.GroupID) {
	t.Helper()
	if described, err := c.Admin().DescribeConsumerGroups(t.Context(), string(group)); err == nil && described[string(group)].Err == nil {
		for _, m := range described[string(group)].Members {
			req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
			req.Group, req.MemberID, req.MemberEpoch = string(group), m.MemberID, -1 // it leaves
			if _, err := req.RequestWith(t.Context(), c.Client()); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	described, err := c.Admin().DescribeGroups(t.Context(), string(group))
	if err != nil {
		t.Fatal(err)
	}
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = string(group)
	for _, m := range described[string(group)].Members {
		member := kmsg.NewLeaveGroupRequestMember()
		member.MemberID = m.MemberID
		req.Members = append(req.Members, member)
	}
	if len(req.Members) == 0 {
		t.Errorf("group %s has no member to throw out", group)
	}
	if _, err := req.RequestWith(t.Context(), c.Client()); err != nil {
		t.Fatal(err)
	}
}

// A process hangs for longer than its session lasts, another takes over, and the first comes back with batches in hand.
func TestAProcessThatHangsLosesNothing(t *testing.T) {
	c := kafkatest.Shared(t)
	r := newRig(t, c, 4, function.Script{
		Seed: 9, Delay: 10 * time.Millisecond, Jitter: 20 * time.Millisecond, Rules: []function.Rule{{Action: function.Fail, Share: 0.05}},
	})
	r.produce(4, 12_000)
	yaml := r.yaml(fast, "batchSize: 5", quick, unlimited)
	first := start(t, yaml)
	first.until("records flow", time.Minute, func() bool { return r.taken() > 500 })
	second := start(t, yaml)
	second.until("it has partitions", time.Minute, func() bool { return len(second.status().Partitions) > 0 })
	for _, p := range []*process{first, second} {
		_ = p.cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(8 * time.Second) // the session lasts 6
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
	}
	r.settled(2 * time.Minute)
	for _, p := range []*process{first, second} {
		if code := p.stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
	r.judge()
}

// Calls end within the drain time, so nothing comes twice, whenever the signal comes.
func TestSIGTERMAtAnyMomentRepeatsNothing(t *testing.T) {
	c := kafkatest.Shared(t)
	script := function.Script{Seed: 5, Delay: 5 * time.Millisecond, Jitter: 300 * time.Millisecond, Rules: []function.Rule{{Action: function.Fail, Share: 0.05}}}
	r := newRig(t, c, 6, script)
	r.produce(6, 20_000)
	yaml := r.yaml("batchSize: 20", quick, unlimited)
	for range 10 {
		p := start(t, yaml)
		time.Sleep(rand.N(2500 * time.Millisecond))
		if code := p.stop(); code != 0 {
			t.Errorf("exit code %d: %s", code, tail(p.log.String(), 5))
		}
	}
	r.function.SetScript(function.Script{})
	p := start(t, yaml)
	r.settled(time.Minute)
	p.stop()
	if report := r.judge(); report.Duplicates > 0 {
		t.Errorf("%d records were taken twice", report.Duplicates)
	}
}

// Calls outlive the drain time while another process joins, leaves and dies. Whoever owns a partition begins where it was
// committed, and what comes again was in flight.
func TestCallsThatOutliveTheDrainTimeLoseNothing(t *testing.T) {
	const partitions, batch, moves = 4, 2, 12
	c := kafkatest.Shared(t)
	r := newRig(t, c, partitions, function.Script{Seed: 3, Delay: 2 * time.Second, Jitter: 4 * time.Second})
	r.produce(partitions, 200)
	yaml := r.drained("1s", fast, fmt.Sprint("batchSize: ", batch), quick)
	first := start(t, yaml)
	w := watchCommits(r)
	for i := range moves {
		second := start(t, yaml)
		time.Sleep(rand.N(1500 * time.Millisecond))
		if i%4 == 3 {
			second.kill()
			continue
		}
		began := time.Now()
		if code := second.stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if d := time.Since(began); d > 10*time.Second {
			t.Errorf("it took %s to stop; the drain time is a second", d)
		}
	}
	r.function.SetScript(function.Script{})
	r.settled(time.Minute)
	if code := first.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	report := r.judge()
	// A partition moves twice at most with each process that comes and goes, and one batch of it is in flight.
	if most := int64(moves * 2 * partitions * batch); report.Redelivered > most {
		t.Errorf("%d deliveries were repetitions, want %d at most", report.Redelivered, most)
	}
	w.judge()
	t.Logf("%d deliveries of %d were repetitions, %d records were taken twice", report.Redelivered, r.function.Totals().Records, report.Duplicates)
}

// commitWatch remembers the committed offsets of a group over time.
type commitWatch struct {
	r    *rig
	stop context.CancelFunc
	done chan struct{}
	at   []time.Time
	seen []map[record.TopicPartition]record.Offset
}

func watchCommits(r *rig) *commitWatch {
	ctx, cancel := context.WithCancel(r.t.Context())
	w := &commitWatch{r: r, stop: cancel, done: make(chan struct{})}
	admin := kadm.NewClient(r.cluster.Client())
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			offsets, err := admin.FetchOffsets(ctx, string(r.group))
			if err == nil {
				now := map[record.TopicPartition]record.Offset{}
				offsets.Each(func(o kadm.OffsetResponse) {
					now[record.TopicPartition{Topic: o.Topic, Partition: o.Partition}] = record.Offset(o.At)
				})
				w.at, w.seen = append(w.at, time.Now()), append(w.seen, now)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return w
}

// judge fails the test for every call that began with a record which had been committed before.
func (w *commitWatch) judge() {
	w.r.t.Helper()
	w.stop()
	<-w.done
	for _, a := range w.r.function.Attempts() {
		// The last that was seen before the call began.
		i, _ := slices.BinarySearchFunc(w.at, a.Begin, time.Time.Compare)
		if i == 0 {
			continue
		}
		for _, run := range a.Runs {
			if committed := w.seen[i-1][run.TopicPartition]; run.Offsets[0] < committed {
				w.r.t.Errorf("%s was handed over at %s; committed was %d", run.At(run.Offsets[0]), a.Begin.Format("15:04:05.000"), committed)
			}
		}
	}
}
