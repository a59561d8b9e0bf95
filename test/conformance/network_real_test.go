//go:build real

package conformance

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/network"
)

// trial is one fault on one of the two ways.
type trial struct {
	where string
	links []*network.Link
	fault network.Fault
	lasts time.Duration
	flows bool // records flow under the fault
}

// comesBack is how soon after the end of a fault every partition is read again: a connection that is silent is given up
// after 11 s, its broker left alone for 5 s and then looked for anew with pauses of up to 2.5 s.
const comesBack = time.Minute

// Every fault of a network befalls the way to Kafka and the way to the function, under load, in an order drawn by a seed;
// SLUICE_CHAOS_SEED repeats one.
func TestABadNetworkLosesNothing(t *testing.T) {
	const partitions = 6
	seed := rand.Uint64()
	if s := os.Getenv("SLUICE_CHAOS_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("SLUICE_CHAOS_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))

	c := kafkatest.Shared(t)
	r := newRig(t, c, partitions, function.Script{Delay: 5 * time.Millisecond})
	way := r.between()
	r.bootstrap = c.Proxied()
	l := r.load(400)
	yaml := strings.Replace(r.yaml(fast, "batchSize: 20", quick, unlimited), "timeout: 5s", "timeout: 2s", 1)
	p := start(t, yaml)
	r.flowing("at the start", time.Minute)

	began := time.Now()
	var longest time.Duration
	var worst string
	for round := range badNetwork.rounds {
		trials := append(trialsOf("kafka", c.Links()), trialsOf("function", []*network.Link{way})...)
		rnd.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
		for _, trial := range trials {
			took := trial.run(t, r, rnd)
			if took > longest {
				longest, worst = took, trial.fault.Name+" at "+trial.where
			}
			t.Logf("round %d: %-8s %-10s %4.1f s, all partitions back after %.2f s", round+1, trial.where, trial.fault, trial.lasts.Seconds(), took.Seconds())
		}
	}
	l.end()
	r.settled(time.Minute)
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	report := r.judge()
	result(t, c, soakRow{run: "a bad network", took: time.Since(began), what: fmt.Sprintf(
		"%d × each of 9 faults on the way to Kafka and to the function, of %s at most; all partitions read again within %.1f s (%s)",
		badNetwork.rounds, badNetwork.long, longest.Seconds(), worst)}, report)
}

func trialsOf(where string, links []*network.Link) []trial {
	short, long := badNetwork.short, badNetwork.long
	return []trial{
		{where, links, network.Latency(100*time.Millisecond, 50*time.Millisecond), short, true},
		{where, links, network.Bandwidth(100), short, true},
		{where, links, network.Slices(200, 500*time.Microsecond), short, true},
		{where, links, network.Cut(), 0, false},
		{where, links, network.Reset(), 0, false},
		{where, links, network.Refuse(), short, false},
		{where, links, network.Blackhole(), long, false},
		{where, links, network.Stall(), long, false},
		{where, links, network.Forget(), 0, false},
	}
}

// run lets a fault last, ends it, and says how long it took until every partition was read again.
func (tr *trial) run(t *testing.T, r *rig, rnd *rand.Rand) time.Duration {
	t.Helper()
	time.Sleep(time.Duration(rnd.Int64N(int64(300 * time.Millisecond))))
	for _, l := range tr.links {
		if err := l.Impair(tr.fault); err != nil {
			t.Fatal(err)
		}
	}
	if tr.flows {
		r.flowing(fmt.Sprintf("under %s at %s", tr.fault, tr.where), comesBack)
	}
	time.Sleep(tr.lasts)
	for _, l := range tr.links {
		if err := l.Heal(); err != nil {
			t.Fatal(err)
		}
	}
	return r.flowing(fmt.Sprintf("%s at %s", tr.fault, tr.where), comesBack)
}

// networkScale is how often every fault comes and how long it lasts.
type networkScale struct {
	rounds      int
	short, long time.Duration
}
