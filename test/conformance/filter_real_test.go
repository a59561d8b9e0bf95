//go:build real

package conformance

import (
	"testing"

	"github.com/sluicehq/sluice/test/kafkatest"
)

func TestFiltersOnRealKafka(t *testing.T) {
	suite(t, filters, func(t *testing.T) *kafkatest.Cluster { return kafkatest.Shared(t) })
}
