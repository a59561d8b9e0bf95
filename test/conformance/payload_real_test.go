//go:build real

package conformance

import (
	"testing"

	"github.com/sluicehq/sluice/test/kafkatest"
)

func TestPayloadsOnRealKafka(t *testing.T) {
	payloads(t, func(t *testing.T) *kafkatest.Cluster { return kafkatest.Shared(t) })
}
