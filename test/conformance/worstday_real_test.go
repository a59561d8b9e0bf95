//go:build real

package conformance

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// worstDay is how bad it gets; scale_test.go and scale_soak_test.go say.
type worstDay struct {
	records                        int
	kills, brokerKills, rebalances int
	progress                       time.Duration // how often the test says how far it is; 0 for never
}

// What the mapping of a worst day may have in flight.
const (
	worstPartitions = 12
	worstBatch      = 20
	worstSlots      = 2 * 5
)

// sinceCommit is what may pass between commits: a second, and the commit itself.
const sinceCommit = 1300 * time.Millisecond

// Three brokers, twelve partitions, a function that fails 5 % of its calls and throttles 5 %, one poison record in each
// partition. By turns that a seed draws, the process is killed with kill -9, brokers are, and a second process joins and
// leaves. Nothing is lost, order holds, the poison records are dead letters, and what comes twice was in flight, or
// settled since the last commit that arrived.
func TestKillsAndRebalancesLoseNothing(t *testing.T) {
	killsAndRebalances(t, kafkatest.SharedThree(t), scale)
}

func killsAndRebalances(t *testing.T, c *kafkatest.Cluster, scale worstDay) {
	began := time.Now()
	script := function.Script{Seed: 7, Delay: 40 * time.Millisecond, Jitter: 30 * time.Millisecond, Rules: []function.Rule{
		{Action: function.Fail, Contains: poisonMark},
		{Action: function.Fail, Share: 0.05},
		{Action: function.Fail, Status: 429, Share: 0.05},
	}}
	r := newRig(t, c, worstPartitions, script)
	var poison []int
	apart := scale.records / worstPartitions / worstPartitions * worstPartitions
	for p := range worstPartitions {
		poison = append(poison, apart*p+p) // apart is a multiple of 12: one for each partition
	}
	r.produce(worstPartitions, scale.records, poison...)
	d := &day{t: t, r: r, scale: scale, began: began, yaml: r.yaml(
		fmt.Sprint("batchSize: ", worstBatch), "maximumRetryAttempts: 5", "bisectBatchOnFunctionError: true", quick, r.withDLQ(),
		"provisionedPollerConfig: {minimumPollers: 2, maximumPollers: 2}", unlimited)}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	d.taken = sample(r, stop, &wg)
	d.first = start(t, d.yaml)
	d.run()
	r.settled(10 * time.Minute)
	close(stop)
	wg.Wait()
	if code := d.first.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.letters()
	report := r.judge()
	if report.DeadLettered != worstPartitions {
		t.Errorf("%d dead letters, want the %d poison records", report.DeadLettered, worstPartitions)
	}
	if report.Duplicates > d.allowed {
		t.Errorf("%d records were taken again; in flight, or settled since the last commit, were %d", report.Duplicates, d.allowed)
	}
	totals := r.function.Totals()
	name := "the worst day"
	if scale.brokerKills == 0 {
		name = "a bad day of one broker, " + c.Version()
	}
	result(t, c, soakRow{
		run: name,
		what: fmt.Sprintf("%s records, %d × kill -9, %d × a broker killed, %d × a process joined and left; %d of %d calls failed or were throttled",
			humanize.Comma(int64(scale.records)), scale.kills, scale.brokerKills, scale.rebalances, totals.Failed, totals.Attempts),
		twice: fmt.Sprintf("%s of %s", humanize.Comma(report.Duplicates), humanize.Comma(d.allowed)),
		took:  time.Since(began),
	}, report)
}

// day is a worst day under way.
type day struct {
	t     *testing.T
	r     *rig
	scale worstDay
	yaml  string
	began time.Time
	taken *samples
	first *process
	// allowed is what may come twice by what has happened so far.
	allowed int64
}

// run has everything happen that the scale says, spread over the records.
func (d *day) run() {
	d.t.Helper()
	var events []func()
	for n, event := range map[*int]func(){&d.scale.kills: d.kill, &d.scale.brokerKills: d.killBroker(), &d.scale.rebalances: d.rebalance} {
		for range *n {
			events = append(events, event)
		}
	}
	rand.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	said := time.Now()
	for i, event := range events {
		due := int64(d.scale.records * (i + 1) / (len(events) + 2))
		d.first.until("records flow", 5*time.Minute, func() bool {
			if d.scale.progress > 0 && time.Since(said) > d.scale.progress {
				said = time.Now()
				d.say("records flow")
			}
			return d.taken.total() >= due
		})
		event()
	}
	d.say("all has happened")
}

// say is a line of progress.
func (d *day) say(what string, args ...any) {
	d.t.Helper()
	total := d.taken.total()
	d.t.Logf("%7s: %s of %s records taken: %s", time.Since(d.began).Round(time.Second), humanize.Comma(total), humanize.Comma(int64(d.scale.records)), fmt.Sprintf(what, args...))
}

// kill is kill -9, at a moment when commits arrive.
func (d *day) kill() {
	d.r.committing(backWithin)
	may := d.taken.since(sinceCommit) + worstSlots*worstBatch
	d.first.kill()
	d.allowed += may
	d.first = start(d.t, d.yaml)
	moved := d.taken.total()
	d.first.until("records flow again", backWithin, func() bool { return d.taken.total() > moved+worstSlots*worstBatch })
	d.say("killed; %d may come twice", may)
}

// killBroker returns what kills the brokers by turns. If it was the group's coordinator, the group may give the member up:
// then what is settled until commits arrive again comes twice.
func (d *day) killBroker() func() {
	id := 0
	return func() {
		id = id%3 + 1
		coordinated := d.r.cluster.Coordinator(d.r.group) == id
		before := d.taken.total() - d.taken.since(sinceCommit)
		d.r.cluster.Kill(id)
		moved := d.taken.total()
		d.first.until("records flow without the broker", backWithin, func() bool { return d.taken.total() > moved+worstSlots*worstBatch })
		d.r.committing(backWithin)
		var may int64
		if coordinated {
			may = d.taken.total() - before + worstSlots*worstBatch
		}
		d.allowed += may
		d.r.cluster.Restart(id)
		d.r.cluster.WaitInSync(2*backWithin, d.r.topic, offsetsTopic)
		d.say("broker %d was killed (coordinator: %t) and is back; %d may come twice", id, coordinated, may)
	}
}

// rebalance has a second process join and leave.
func (d *day) rebalance() {
	second := start(d.t, d.yaml)
	second.until("it has partitions", backWithin, func() bool { return len(second.status().Partitions) > 0 })
	moved := d.taken.total()
	d.first.until("both work", backWithin, func() bool { return d.taken.total() > moved+worstSlots*worstBatch })
	if code := second.stop(); code != 0 {
		d.t.Errorf("the second process ended with %d", code)
	}
	d.say("a process joined and left")
}

// committing waits until commits arrive, of every partition that has not been committed to its end.
func (r *rig) committing(within time.Duration) {
	r.t.Helper()
	before, ends, began := r.cluster.Committed(r.group), r.cluster.EndOffsets(r.topic), time.Now()
	for {
		var still []record.TopicPartition
		now := r.cluster.Committed(r.group)
		for tp, end := range ends {
			if now[tp] <= before[tp] && now[tp] < end {
				still = append(still, tp)
			}
		}
		if len(still) == 0 {
			return
		}
		if time.Since(began) > within {
			r.t.Fatalf("for %s no commit of %v has arrived", within, still)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// samples remembers how many records had been taken when.
type samples struct {
	mu   sync.Mutex
	at   []time.Time
	took []int64
}

func sample(r *rig, stop <-chan struct{}, wg *sync.WaitGroup) *samples {
	s := &samples{}
	wg.Go(func() {
		for {
			n := r.taken()
			s.mu.Lock()
			s.at, s.took = append(s.at, time.Now()), append(s.took, n)
			s.mu.Unlock()
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return s
}

func (s *samples) total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.took) == 0 {
		return 0
	}
	return s.took[len(s.took)-1]
}

// since is how many were taken in the last d, and since the last sample.
func (s *samples) since(d time.Duration) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.at)
	for i := n - 1; i >= 0; i-- {
		if time.Since(s.at[i]) >= d {
			return s.took[n-1] - s.took[i]
		}
	}
	return s.took[n-1]
}
