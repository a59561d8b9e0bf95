//go:build real

package examples

import (
	"testing"

	"github.com/sluicehq/sluice/test/kafkatest"
)

func TestHTTPFunctionOnKafka(t *testing.T) {
	httpFunction(t, kafkatest.Start(t, kafkatest.Options{}))
}
