package failure

import (
	"testing"
	"time"

	"github.com/sluicehq/sluice/record"
)

func TestThePauseNeverLeavesItsBounds(t *testing.T) {
	for _, c := range []struct {
		name             string
		initial, maximum time.Duration
		n                int
		want             time.Duration // for the largest draw, within a nanosecond
	}{
		{"the first is the initial one", time.Second, time.Minute, 1, time.Second},
		{"each doubles", time.Second, time.Minute, 4, 8 * time.Second},
		{"the last doubling is cut", time.Second, time.Minute, 7, time.Minute},
		{"it stays there for ever", time.Second, time.Minute, 1 << 40, time.Minute},
		{"an initial one above the maximum is cut", time.Hour, time.Minute, 1, time.Minute},
		{"it does not overflow", time.Second, 1<<63 - 1, 1 << 40, 1<<63 - 1},
		{"zero means none", 0, time.Minute, 9, 0},
	} {
		p := Policy{InitialBackoff: c.initial, MaximumBackoff: c.maximum}
		if got := p.pause(c.n, 0); got != 0 {
			t.Errorf("%s: lowest draw gives %v", c.name, got)
		}
		most := 1 - 1.0/(1<<53) // the largest float64 below 1
		got := p.pause(c.n, most)
		if got > c.want || float64(c.want-got) > float64(c.want)/1e9+1 {
			t.Errorf("%s: highest draw gives %v, want just below %v", c.name, got, c.want)
		}
	}
}

// Kafka marks a record without a timestamp with -1 ms; nothing can be said about its age.
func TestARecordWithoutTimestampNeverAges(t *testing.T) {
	p := Policy{MaximumRecordAge: time.Minute}
	run := record.Run{Records: []*record.Record{{Timestamp: time.UnixMilli(-1)}, {Timestamp: time.UnixMilli(0)}}}
	keep, d := p.Expired(time.Unix(1_796_033_701, 0), run)
	if len(keep) != 1 || keep[0].Records[0] != run.Records[0] || len(keep[0].Records) != 1 {
		t.Errorf("kept %v", keep)
	}
	if len(d.Drop) != 1 || d.Drop[0].Records[0] != run.Records[1] {
		t.Errorf("dropped %v", d.Drop)
	}
}

func TestNothingExpiredCostsOneLook(t *testing.T) {
	p := Policy{MaximumRecordAge: time.Minute}
	now := time.Unix(1_796_033_701, 0)
	run := record.Run{Records: make([]*record.Record, 1000)}
	for i := range run.Records {
		run.Records[i] = &record.Record{Timestamp: now}
	}
	if n := testing.AllocsPerRun(100, func() { p.Expired(now, run) }); n > 1 {
		t.Errorf("%v allocations, want the returned slice alone", n)
	}
}

func TestImpossibleCallsPanicWithTheirNumbers(t *testing.T) {
	for name, call := range map[string]func(p *Policy){
		"a run without records": func(p *Policy) {
			p.PartiallyFailed(time.Time{}, 0, record.Run{}, []int{0}, record.Failure{})
		},
		"an index that the run does not have": func(p *Policy) {
			p.PartiallyFailed(time.Time{}, 0, record.Run{Records: []*record.Record{{}}}, []int{1}, record.Failure{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call(&Policy{})
		})
	}
}
