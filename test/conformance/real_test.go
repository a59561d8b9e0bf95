//go:build real

package conformance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/kafkatest/broker"
)

func TestSuiteOnRealKafka(t *testing.T) {
	suite(t, whole, func(t *testing.T) *kafkatest.Cluster { return kafkatest.Shared(t) })
}

// A compacted topic ends at lag 0, and a restart delivers nothing.
func TestACompactedTopicEndsAtLagZero(t *testing.T) {
	compacted(t, kafkatest.Start(t, kafkatest.Options{Properties: cleaning}))
}

// cleaning has the cleaner look often.
var cleaning = map[string]string{"log.cleaner.backoff.ms": "200"}

func compacted(t *testing.T, c *kafkatest.Cluster) {
	r := newRig(t, c, 1, function.Script{})
	r.topic = c.Name("compacted")
	c.CreateTopic(r.topic, 1, map[string]string{
		"cleanup.policy": "compact", "segment.ms": "500", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "100",
	})
	write := func(key string, value []byte) {
		c.Produce(&kgo.Record{Topic: r.topic, Key: []byte(key), Value: value})
	}
	for i := range 100 {
		write(fmt.Sprint(i%10), []byte(fmt.Sprint("v", i)))
	}
	write("gone", nil)
	time.Sleep(time.Second)
	write("last", nil) // rolls the segment before it
	deadline := time.Now().Add(60 * time.Second)
	for len(c.Records(r.topic)) > 15 {
		if time.Now().After(deadline) {
			t.Fatalf("the cleaner left %d records", len(c.Records(r.topic)))
		}
		time.Sleep(200 * time.Millisecond)
	}
	end := c.EndOffsets(r.topic)[record.TopicPartition{Topic: r.topic}]
	p := start(t, r.yaml(fast))
	r.settled(30 * time.Second)
	p.stop()
	first := r.ledger.Report()
	t.Logf("%d records left of %d offsets; %d handed over", len(c.Records(r.topic)), end, first.Foreign)
	p = start(t, r.yaml(fast))
	time.Sleep(2 * time.Second)
	p.stop()
	if again := r.ledger.Report(); again.Foreign != first.Foreign || again.Redelivered != 0 {
		t.Errorf("a restart handed over %d, and %d again", again.Foreign-first.Foreign, again.Redelivered)
	}
}

// The whole way over TLS with each kind of login.
func TestSecureClusters(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{Secure: true})
	cred := c.Credentials()
	cases := []struct {
		name     string
		listener broker.Listener
		yaml     string
	}{
		{"TLS", broker.TLS, "tls: {caFile: '%CA'}"},
		{"mutual TLS", broker.MutualTLS, "tls: {caFile: '%CA', certFile: '%CERT', keyFile: '%KEY'}"},
		{"PLAIN over TLS", broker.SASLTLS, "tls: {caFile: '%CA'}, sasl: {mechanism: PLAIN, username: '%USER', password: '%PASS'}"},
		{"SCRAM-SHA-256 over TLS", broker.SASLTLS, "tls: {caFile: '%CA'}, sasl: {mechanism: SCRAM-SHA-256, username: '%USER', password: '%PASS'}"},
		{"SCRAM-SHA-512 over TLS", broker.SASLTLS, "tls: {caFile: '%CA'}, sasl: {mechanism: SCRAM-SHA-512, username: '%USER', password: '%PASS'}"},
	}
	fill := strings.NewReplacer("%CA", cred.CAFile, "%CERT", cred.CertFile, "%KEY", cred.KeyFile, "%USER", cred.Username, "%PASS", cred.Password)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, c, 2, function.Script{Rules: []function.Rule{{Action: function.Fail, Contains: poisonMark}}})
			r.produce(2, 20, 3)
			plain := fmt.Sprintf("bootstrapServers: ['%s']", strings.Join(c.Bootstrap(), "','"))
			secure := fmt.Sprintf("bootstrapServers: ['%s'], %s", strings.Join(c.Address(tc.listener), "','"), fill.Replace(tc.yaml))
			yaml := strings.Replace(r.yaml(fast, "batchSize: 1", "maximumRetryAttempts: 0", r.withDLQ()), plain, secure, 1)
			p := start(t, yaml)
			r.settled(30 * time.Second)
			p.stop()
			r.letters()
			if report := r.judge(); report.Taken != 19 || report.DeadLettered != 1 {
				t.Errorf("%d taken, %d dead-lettered", report.Taken, report.DeadLettered)
			}
			if strings.Contains(p.log.String(), cred.Password) {
				t.Error("the password is in the log")
			}
		})
	}
	t.Run("a wrong password is told", func(t *testing.T) {
		r := newRig(t, c, 1, function.Script{})
		plain := fmt.Sprintf("bootstrapServers: ['%s']", strings.Join(c.Bootstrap(), "','"))
		wrong := fmt.Sprintf("bootstrapServers: ['%s'], tls: {caFile: '%s'}, sasl: {mechanism: PLAIN, username: '%s', password: wr0ngw0rd}",
			strings.Join(c.Address(broker.SASLTLS), "','"), cred.CAFile, cred.Username)
		p := start(t, strings.Replace(r.yaml(), plain, wrong, 1))
		p.until("status says so", 30*time.Second, func() bool {
			st := p.status()
			return strings.Contains(st.LastProcessingResult, "PROBLEM") && !st.Ready && strings.Contains(st.NotReadyReason, "password")
		})
		t.Log(p.status().NotReadyReason)
		if strings.Contains(p.log.String(), "wr0ngw0rd") {
			t.Error("the password is in the log")
		}
	})
}
