//go:build real

package lag

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/test/kafkatest"
)

func TestOnKafka(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{})
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			run(t, connect(t, nil, c.Bootstrap(), strings.ReplaceAll(name, " ", "-")+"."))
		})
	}
}
