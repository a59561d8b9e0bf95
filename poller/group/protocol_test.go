package group_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// protocol is what the members of join speak. The tests of the package run one after the other.
var protocol protocols

type protocols struct{ now group.Protocol }

// is sets it for the rest of a test.
func (p *protocols) is(t *testing.T, by group.Protocol) {
	before := p.now
	p.now = by
	t.Cleanup(func() { p.now = before })
}

func (p *protocols) choose(context.Context) (group.Choice, error) {
	return group.Choice{Protocol: p.now, Why: "the test says so"}, nil
}

// What holds for a classic group holds for one whose brokers assign.
func TestByKIP848(t *testing.T) {
	for name, test := range map[string]func(t *testing.T){
		"every record is taken once, in order, and committed": TestEveryRecordIsTakenOnceInOrderAndCommitted,
		"a restart delivers nothing again":                    TestARestartDeliversNothingAgain,
		"starting positions":                                  TestStartingPositions,
		"a rebalance drains and loses nothing":                TestARebalanceDrainsAndLosesNothing,
		"a call that outlives its drain is cancelled":         TestACallThatOutlivesItsDrainIsCancelled,
		"transactions end at lag 0":                           TestTransactionsAndControlRecordsEndAtLagZero,
		"topics by expression, and topics that come later":    TestTopicsByExpressionAndTopicsThatComeLater,
		"LATEST loses nothing of what comes later":            TestLatestLosesNothingOfWhatComesLater,
		"LATEST loses nothing over ten changes":               TestLatestLosesNothingOverTenChanges,
		"a call that never returns does not hold up the stop": TestACallThatNeverReturnsDoesNotHoldUpTheStop,
		"a cluster that is gone does not hold up the stop":    TestAClusterThatIsGoneDoesNotHoldUpTheStop,
		"a partition that cannot be listed holds up no other": TestAPartitionThatCannotBeListedHoldsUpNoOther,
		"a refused commit shows":                              TestARefusedCommitShows,
		"rebalances leak nothing":                             TestRebalancesLeakNothing,
		"rebalances do not hide the last attempt":             TestRebalancesDoNotHideTheLastAttempt,
		"a recreated topic is read from its beginning":        TestARecreatedTopicIsReadFromItsBeginning,
		"a commit of an earlier topic is not taken for new":   TestACommitOfAnEarlierTopicIsNotTakenForOneOfTheNew,
		"a recreated topic may stop":                          TestARecreatedTopicMayStop,
		"a deleted topic holds up no other":                   TestADeletedTopicShowsAndHoldsUpNoOther,
	} {
		t.Run(name, func(t *testing.T) {
			protocol.is(t, group.Consumer)
			test(t)
		})
	}
}

// kfakeOf says of itself what a broker of that version says.
func kfakeOf(t *testing.T, version *kversion.Versions) *kgo.Client {
	t.Helper()
	fake, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.MaxVersions(version))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(fake.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestTheProtocolFollowsTheBrokersVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		version  *kversion.Versions
		protocol group.Protocol
		always   bool // whether groupProtocol: consumer is possible
		why      string
	}{
		"2.8": {kversion.V2_8_0(), group.Classic, false, "older than Kafka 4.0"},
		"3.9": {kversion.V3_9_0(), group.Classic, false, "older than Kafka 4.0"},
		"4.0": {kversion.V4_0_0(), group.Classic, true, "older than Kafka 4.3"},
		"4.2": {kversion.V4_2_0(), group.Classic, true, "older than Kafka 4.3"},
		"4.3": {kversion.V4_3_0(), group.Consumer, true, "Kafka 4.3 or later"},
		"4.4": {kversion.V4_4_0(), group.Consumer, true, "Kafka 4.3 or later"},
	} {
		t.Run(name, func(t *testing.T) {
			client := kfakeOf(t, tc.version)
			got, err := group.Auto(client, "g")(t.Context())
			if err != nil || got.Protocol != tc.protocol || !strings.Contains(got.Why, tc.why) {
				t.Errorf("%s because %s, %v; want %s because %s", got.Protocol, got.Why, err, tc.protocol, tc.why)
			}
			got, err = group.Always(client)(t.Context())
			if (err == nil) != tc.always || tc.always && got.Protocol != group.Consumer {
				t.Errorf("always: %s, %v", got.Protocol, err)
			}
			if err != nil {
				if reason, hint := kafka.Explain(err); !strings.Contains(reason, tc.why) || hint == "" {
					t.Errorf("explained as %q, %q", reason, hint)
				}
			}
		})
	}
}

// A cluster that does not answer yet is asked again; the mapping says so, and joins when it answers.
func TestTheProtocolIsChosenWhenTheClusterAnswers(t *testing.T) {
	virtual(t, func(t *testing.T, c *kafkatest.Cluster) {
		c.CreateTopic("orders", 1, nil)
		produce(c, "orders", 1, 1)
		tries := 0
		fn := target(fine)
		m := join(t, c, "m", []string{"orders"}, fn, options{config: func(g *group.Config) {
			g.Choose = func(context.Context) (group.Choice, error) {
				if tries++; tries < 4 {
					return group.Choice{}, errors.New("nobody listens")
				}
				return group.Choice{Protocol: group.Consumer}, nil
			}
		}})
		time.Sleep(time.Second)
		if _, err := m.feed.Problem(); err == nil || m.feed.Joined() || m.metrics.GroupProtocol.Value() != "" {
			t.Errorf("problem %v, joined %v, protocol %q", err, m.feed.Joined(), m.metrics.GroupProtocol.Value())
		}
		time.Sleep(20 * time.Second)
		if _, err := m.feed.Problem(); err != nil || len(fn.taken()) != 1 || m.metrics.GroupProtocol.Value() != "consumer" {
			t.Errorf("problem %v, %d taken, protocol %q", err, len(fn.taken()), m.metrics.GroupProtocol.Value())
		}
	})
	t.Run("a stop does not wait for it", func(t *testing.T) {
		virtual(t, func(t *testing.T, c *kafkatest.Cluster) {
			m := join(t, c, "m", []string{"orders"}, target(fine), options{config: func(g *group.Config) {
				g.Choose = func(context.Context) (group.Choice, error) { return group.Choice{}, errors.New("nobody listens") }
			}})
			time.Sleep(time.Minute)
			began := time.Now()
			m.stop()
			if took := time.Since(began); took > 0 {
				t.Errorf("it took %s", took)
			}
		})
	})
}
