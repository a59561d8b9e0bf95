package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sluicehq/sluice/controller"
)

// Explain prints why a mapping moves as it does: the summary, then each partition with what it waits for.
func Explain(w io.Writer, e controller.Explanation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", clean(e.Mapping), clean(e.State))
	if e.StateReason != "" && !strings.HasPrefix(e.Summary, e.StateReason) {
		fmt.Fprintf(&b, " (%s)", clean(e.StateReason))
	}
	fmt.Fprintf(&b, ", %s behind\n", maybe(e.Lag))
	if e.Summary != "" {
		fmt.Fprintf(&b, "%s\n", clean(e.Summary))
	}
	if len(e.Partitions) > 0 {
		b.WriteString("\n")
	}
	t := table{indent: 2, right: map[int]bool{2: true}}
	for _, p := range e.Partitions {
		t.add(partition(p.Topic, p.Partition), string(p.State), maybe(p.Lag)+" behind", clean(p.Sentence))
	}
	b.WriteString(t.String())
	_, err := io.WriteString(w, b.String())
	return err
}

// Decisions prints scaling decisions as they come, the newest first in the API's answers, with times in the given zone.
func Decisions(w io.Writer, list []controller.Decision, zone *time.Location) error {
	t := table{right: map[int]bool{2: true, 3: true, 4: true, 5: true}}
	t.add("TIME", "POLLERS", "LAG", "ARRIVING/S", "SETTLED/S", "USE", "REASON")
	for _, d := range list {
		t.add(
			d.At.In(zone).Format(time.DateTime), pollers(d), maybe(d.Reading.Lag), rate(d.Reading.ArrivingPerSecond),
			rate(d.Reading.SettledPerSecond), fmt.Sprintf("%.0f %%", 100*d.Reading.Use), clean(d.Reason),
		)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// pollers is what a decision does to the count.
func pollers(d controller.Decision) string {
	if d.From == d.To {
		return counted(d.To, "poller")
	}
	return fmt.Sprintf("%d -> %s", d.From, counted(d.To, "poller"))
}
