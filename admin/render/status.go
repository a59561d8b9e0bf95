// Package render prints the admin API's answers for people: aligned tables of plain text that fit a terminal, one answer a
// screen, so that a command may clear and print again. It decides nothing; programs read the JSON.
package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/controller"
)

// linesMax bounds the partitions that are listed one by one below a table; of more, the number is told.
const linesMax = 20

// Status prints a line for every mapping, and below it the partitions that stand still. Times of the day are in
// the zone of now, here and below.
func Status(w io.Writer, s controller.Status, now time.Time) error {
	var b strings.Builder
	heading(&b, s, now)
	if len(s.Mappings) > 0 {
		b.WriteString("\n")
		b.WriteString(mappings(s.Mappings).String())
		stalls(&b, s.Mappings)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// StatusWhy is Status with the last scaling decisions of each mapping and with what each of its waiting partitions waits
// for.
func StatusWhy(w io.Writer, s controller.Status, now time.Time) error {
	var b strings.Builder
	heading(&b, s, now)
	if len(s.Mappings) > 0 {
		b.WriteString("\n")
		b.WriteString(mappings(s.Mappings).String())
	}
	for _, m := range s.Mappings {
		fmt.Fprintf(&b, "\n%s%s\n", clean(m.Name), group(m))
		t := table{indent: 2}
		for _, d := range m.Decisions {
			t.add(d.At.In(now.Location()).Format(time.TimeOnly), pollers(d), clean(d.Reason))
		}
		if len(m.Decisions) == 0 {
			t.add("no scaling decision yet")
		}
		b.WriteString(t.String())
		waits := standing(m)
		b.WriteString(waits.String())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func heading(b *strings.Builder, s controller.Status, now time.Time) {
	fmt.Fprintf(b, "sluice %s, up %s, %s", clean(s.Version), span(now.Sub(s.StartedAt)), counted(len(s.Mappings), "mapping"))
	notReady := 0
	for _, m := range s.Mappings {
		if !m.Ready {
			notReady++
		}
	}
	if notReady > 0 {
		fmt.Fprintf(b, ", %d not ready", notReady)
	}
	b.WriteString("\n")
}

func mappings(list []controller.MappingStatus) *table {
	t := &table{right: map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true}}
	t.add("MAPPING", "STATE", "POLLERS", "LAG", "RECORDS/S", "BYTES/S", "IN FLIGHT", "SETTLED", "FAILED ATTEMPTS", "DEAD", "DROPPED", "NOTE")
	for _, m := range list {
		t.add(
			clean(m.Name), clean(m.State),
			fmt.Sprintf("%d (%d-%d)", m.Pollers.Now, m.Pollers.Minimum, m.Pollers.Maximum),
			maybe(m.Lag), rate(m.RecordsPerSecond), bytes(m.BytesPerSecond), number(m.InFlight.Records), number(m.Counts.Settled),
			number(m.Counts.Failed), number(m.Counts.DeadLettered), number(m.Counts.Dropped), clean(note(m)),
		)
	}
	return t
}

// group names the mapping's group once it has been joined, and how it shares its partitions.
func group(m controller.MappingStatus) string {
	if m.GroupProtocol == "" {
		return ""
	}
	return fmt.Sprintf(" (group %s, protocol %s)", clean(m.ConsumerGroupID), clean(m.GroupProtocol))
}

// userInitiated is AWS's reason of a state that somebody asked for: it tells nothing of a problem.
const userInitiated = "USER_INITIATED"

// note is the one thing about a mapping that its operator should know first.
func note(m controller.MappingStatus) string {
	switch {
	case !m.Ready && m.NotReadyReason != "":
		return "not ready: " + m.NotReadyReason
	case !m.Ready:
		return "not ready"
	case m.Throttled != "":
		return m.Throttled
	case strings.HasSuffix(m.LastProcessingResult, "Function call failed") && m.Lag != nil && *m.Lag == 0:
		return "" // it has found its end: the columns before tell which
	case strings.HasPrefix(m.LastProcessingResult, "PROBLEM"):
		if m.StateReason != "" && m.StateReason != userInitiated {
			return "PROBLEM: " + m.StateReason
		}
		return m.LastProcessingResult
	case m.Counts.LostToRetention > 0:
		return fmt.Sprintf("%d records were deleted before they were read", m.Counts.LostToRetention)
	}
	return ""
}

// stalls lists the partitions without progress of all mappings, the longest first.
func stalls(b *strings.Builder, list []controller.MappingStatus) {
	type stall struct {
		mapping string
		controller.PartitionStatus
	}
	var all []stall
	for _, m := range list {
		for _, p := range m.Partitions {
			if p.Stalled != nil {
				all = append(all, stall{m.Name, p})
			}
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b stall) int { return cmp.Compare(b.Stalled.Seconds, a.Stalled.Seconds) })
	t := table{indent: 2, right: map[int]bool{2: true}}
	for _, s := range all[:min(len(all), linesMax)] {
		t.add(append([]string{clean(s.mapping)}, standstill(s.PartitionStatus)...)...)
	}
	t.rest(len(all))
	fmt.Fprintf(b, "\nStanding still:\n%s", t.String())
}

// standing lists the partitions of one mapping that wait or stand still, the longest first.
func standing(m controller.MappingStatus) *table {
	var all []controller.PartitionStatus
	for _, p := range m.Partitions {
		if p.Stalled != nil || p.State == controller.Waiting {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b controller.PartitionStatus) int { return cmp.Compare(stalledFor(b), stalledFor(a)) })
	t := &table{indent: 2, right: map[int]bool{1: true}}
	for _, p := range all[:min(len(all), linesMax)] {
		if p.Stalled != nil {
			t.add(standstill(p)...)
		} else {
			t.add(partition(p.Topic, p.Partition), maybe(p.Lag)+" behind", string(p.State))
		}
	}
	t.rest(len(all))
	return t
}

func stalledFor(p controller.PartitionStatus) float64 {
	if p.Stalled == nil {
		return 0
	}
	return p.Stalled.Seconds
}

// standstill is the line of a partition that makes no progress.
func standstill(p controller.PartitionStatus) []string {
	return []string{
		partition(p.Topic, p.Partition), maybe(p.Lag) + " behind", "for " + seconds(p.Stalled.Seconds), clean(p.Stalled.Reason),
	}
}
