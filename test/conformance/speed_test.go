package conformance

import (
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// Fault 130: at full speed some sends failed and were not tried again. A hundred partitions, and one call in a hundred
// fails; TestHalfAMillionRecordsAtFullSpeed is the same at full size.
func TestAtFullSpeedNothingIsLost(t *testing.T) {
	atFullSpeed(t, kafkatest.Fake(t, kafkatest.Options{}), 25_000)
}

func atFullSpeed(t *testing.T, c *kafkatest.Cluster, records int) {
	const partitions = 100
	r := newRig(t, c, partitions, function.Script{Seed: 130, Rules: []function.Rule{{Action: function.Fail, Share: 0.01}}})
	r.produce(partitions, records)
	p := start(t, r.yaml("batchSize: 20", quick, "provisionedPollerConfig: {minimumPollers: 5, maximumPollers: 20}"))
	r.settled(30*time.Second + time.Duration(records)*time.Millisecond)
	p.stop()
	report := r.judge()
	if report.Taken != int64(records) {
		t.Errorf("%d taken of %d", report.Taken, records)
	}
	if failed := r.function.Totals().Failed; failed < int64(records/20/200) {
		t.Errorf("only %d calls failed; want about one in a hundred", failed)
	}
}
