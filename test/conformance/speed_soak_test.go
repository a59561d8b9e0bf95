//go:build real && soak

package conformance

import (
	"testing"

	"github.com/sluicehq/sluice/test/kafkatest"
)

// Fault 130 at full size, on real Kafka.
func TestHalfAMillionRecordsAtFullSpeed(t *testing.T) {
	atFullSpeed(t, kafkatest.Shared(t), 500_000)
}
