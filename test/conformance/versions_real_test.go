//go:build real

package conformance

import (
	"testing"

	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/kafkatest/broker"
)

// The versions of Kafka beside the one that all other tests run on. The soak runs more on them.
func TestSuiteOnOtherVersions(t *testing.T) {
	for _, version := range broker.Versions() {
		if version == kafkatest.DefaultVersion() {
			continue
		}
		t.Run(version, func(t *testing.T) {
			t.Parallel() // they wait more than they work
			started := kafkatest.Start(t, kafkatest.Options{Version: version, Properties: cleaning})
			if got := started.Version(); got != version {
				t.Fatalf("the broker says that it is %s", got)
			}
			suite(t, otherSuite, func(t *testing.T) *kafkatest.Cluster { return started.For(t) })
			t.Run("a compacted topic ends at lag 0", func(t *testing.T) { compacted(t, started.For(t)) })
			t.Run("kills and rebalances lose nothing", func(t *testing.T) { killsAndRebalances(t, started.For(t), otherScale) })
		})
	}
}
