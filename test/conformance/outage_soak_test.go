//go:build soak

package conformance

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/network"
)

// outage is how long something is away, in real time; SLUICE_SOAK_OUTAGE makes it shorter.
var outage = 10 * time.Minute

func init() {
	if d, err := time.ParseDuration(os.Getenv("SLUICE_SOAK_OUTAGE")); err == nil {
		outage = d
	}
}

// Ten minutes without the function and ten minutes without a broker, beside one another.
func TestTenMinutesAway(t *testing.T) {
	t.Run("the function", func(t *testing.T) {
		t.Parallel()
		functionAway(t, kafkatest.Shared(t))
	})
	t.Run("every broker", func(t *testing.T) {
		t.Parallel()
		brokersAway(t, kafkatest.SharedThree(t))
	})
}

// functionAway has a function hang for three minutes, fail for three and refuse connections for four. Nothing is a dead
// letter, and every partition moves within 5 s of its return.
func functionAway(t *testing.T, c *kafkatest.Cluster) {
	const flows = 5 * time.Second
	began := time.Now()
	r := newRig(t, c, 6, function.Script{Delay: 5 * time.Millisecond})
	way := r.between()
	l := r.load(100)
	p := start(t, r.yaml(fast, "batchSize: 20", "maximumRetryAttempts: 2", "retry: {initialBackoff: 1s, maximumBackoff: 1m}", r.withDLQ(), unlimited))
	r.flowing("at the start", time.Minute)

	t.Log("the function hangs")
	r.function.SetScript(function.Script{Rules: []function.Rule{{Action: function.Hang}}})
	time.Sleep(3 * outage / 10)
	t.Log("the function answers 500")
	r.function.SetScript(function.Script{Rules: []function.Rule{{Action: function.Fail}}})
	time.Sleep(3 * outage / 10)
	t.Log("the function refuses connections:", p.status().StateReason)
	if err := way.Impair(network.Refuse()); err != nil {
		t.Fatal(err)
	}
	r.function.SetScript(function.Script{Delay: 5 * time.Millisecond})
	time.Sleep(4 * outage / 10)
	reason := p.status().StateReason
	if !strings.Contains(reason, "has been down for") {
		t.Errorf("status says %q", reason)
	}
	if err := way.Heal(); err != nil {
		t.Fatal(err)
	}
	took := r.moving("with the function back", flows)
	caught := r.flowing("with the function back", 2*time.Minute)
	r.note("it hung, failed and refused connections for %s in all; every partition moved %.1f s after its return, and had caught up after %.1f s", outage, took.Seconds(), (took + caught).Seconds())
	l.end()
	r.settled(time.Minute)
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.letters()
	report := r.judge()
	if report.DeadLettered > 0 {
		t.Errorf("%d dead letters", report.DeadLettered)
	}
	result(t, c, soakRow{run: "without the function, " + outage.String(), took: time.Since(began), what: strings.Join(r.notes, "; ")}, report)
}

// brokersAway kills all brokers, and starts them again after ten minutes. Sluice goes on by itself.
func brokersAway(t *testing.T, c *kafkatest.Cluster) {
	began := time.Now()
	r := newRig(t, c, 6, function.Script{Delay: 5 * time.Millisecond})
	r.produce(6, 60_000)
	p := start(t, r.yaml(fast, "batchSize: 5", quick, unlimited, "provisionedPollerConfig: {minimumPollers: 1, maximumPollers: 1}"))
	p.until("records flow", time.Minute, func() bool { return r.taken() > 1000 })
	c.AllDown(func() { time.Sleep(outage) })
	back := time.Now()
	r.produce(6, 6000) // what was fetched before has long been handed out
	r.moving("with the brokers back", backWithin)
	took := time.Since(back)
	r.note("all three brokers were down for %s; every partition moved %.1f s after they answered again", outage, took.Seconds())
	r.settled(5 * time.Minute)
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	report := r.judge()
	result(t, c, soakRow{run: "without a broker, " + outage.String(), took: time.Since(began), what: strings.Join(r.notes, "; ")}, report)
}

// The record that kills the function, on a real Kafka.
func TestARecordThatKillsTheFunctionOnRealKafka(t *testing.T) {
	c, began := kafkatest.Shared(t), time.Now()
	r, report := kills(t, c, 2*time.Second)
	result(t, c, soakRow{run: "a record that kills the function", took: time.Since(began), what: strings.Join(r.notes, "; ")}, report)
}
