//go:build real

package conformance

import (
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// worstDay is how bad it gets; scale_test.go and scale_soak_test.go say.
type worstDay struct {
	records, kills, rebalances int
}

// Twelve partitions, a function that fails 5 % of its calls, one poison record per partition; kill -9 of one process,
// rebalances by another. Nothing is lost, order holds, the poison records are dead letters, and what comes twice was in
// flight at a kill or settled in the second before it.
func TestKillsAndRebalancesLoseNothing(t *testing.T) {
	killsAndRebalances(t, kafkatest.Shared(t), scale)
}

func killsAndRebalances(t *testing.T, c *kafkatest.Cluster, scale worstDay) {
	const (
		partitions = 12
		batch      = 50
		slots      = 2 * 5
	)
	script := function.Script{Seed: 7, Delay: 20 * time.Millisecond, Jitter: 30 * time.Millisecond, Rules: []function.Rule{
		{Action: function.Fail, Contains: poisonMark},
		{Action: function.Fail, Share: 0.05},
	}}
	r := newRig(t, c, partitions, script)
	var poison []int
	apart := scale.records / partitions / partitions * partitions
	for p := range partitions {
		poison = append(poison, apart*p+p) // apart is a multiple of 12: one for each partition
	}
	r.produce(partitions, scale.records, poison...)
	yaml := r.yaml("batchSize: 50", "maximumRetryAttempts: 5", "bisectBatchOnFunctionError: true", quick, r.withDLQ(),
		"provisionedPollerConfig: {minimumPollers: 2, maximumPollers: 2}", "pollerLimits: {throughput: unlimited}")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	taken := sample(r, stop, &wg)

	first := start(t, yaml)
	var allowed int64
	for i := range scale.rebalances {
		moved := taken.total()
		first.until("records flow", 60*time.Second, func() bool { return taken.total() > moved+3000 })
		second := start(t, yaml)
		second.until("it has partitions", 30*time.Second, func() bool { return len(second.status().Partitions) > 0 })
		time.Sleep(500 * time.Millisecond)
		if code := second.stop(); code != 0 {
			t.Errorf("the second process ended with %d", code)
		}
		if i < scale.kills {
			moved := taken.total()
			first.until("records flow again", 60*time.Second, func() bool { return taken.total() > moved+3000 })
			allowed += taken.since(1300*time.Millisecond) + slots*batch
			first.kill()
			first = start(t, yaml)
		}
	}
	r.settled(10 * time.Minute)
	close(stop)
	wg.Wait()
	if code := first.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.letters()
	report := r.judge()
	if report.DeadLettered != partitions {
		t.Errorf("%d dead letters, want the %d poison records", report.DeadLettered, partitions)
	}
	if report.Duplicates > allowed {
		t.Errorf("%d records were taken again; in flight or settled in the last second before a kill were %d", report.Duplicates, allowed)
	}
	t.Logf("kafka %s: %d records, %d kills, %d rebalances: lost %d, violations %d, duplicates %d of at most %d, dead letters %d",
		c.Version(), scale.records, scale.kills, scale.rebalances, report.Lost, report.Violations, report.Duplicates, allowed, report.DeadLettered)
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
