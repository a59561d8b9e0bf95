package scaling

import (
	"fmt"
	"strings"
	"time"
)

// bounds returns the bounds that hold for a reading, with the words for each.
func (s *Scaler) bounds(r Reading) (low, high int, lowWhy, highWhy string) {
	low, high = s.o.Minimum, s.o.Maximum
	lowWhy, highWhy = fmt.Sprintf("minimum is %d", low), fmt.Sprintf("maximum is %d", high)
	if s.o.PollerPerPartition && r.Partitions > 0 && r.Partitions < high {
		high = r.Partitions
		highWhy = fmt.Sprintf("%s can use no more pollers", plural(r.Partitions, "partition"))
		if low > high {
			low, lowWhy = high, highWhy
		}
	}
	return low, high, lowWhy, highWhy
}

func up(d *Decision, w want, o Options) string {
	switch w.aim {
	case unmeasured:
		return fmt.Sprintf("%s, all slots busy and nothing settled yet to measure by: doubled", behind(d))
	case forDrain:
		return fmt.Sprintf("%s, %s/s arriving; one poller settles %s/s: %d would drain the lag within %s",
			behind(d), rate(d.ArrivingPerSecond), rate(d.PerPoller), w.count, span(o.TargetDrainTime))
	default:
		return fmt.Sprintf("%s/s arriving; one poller settles %s/s: %d would be at most %s used",
			rate(d.ArrivingPerSecond), rate(d.PerPoller), w.count, percent(useHigh))
	}
}

func scopesBound(r Reading, useful int) string {
	return fmt.Sprintf("%s with work can use no more than %s", plural(r.Scopes, "partition"), plural(useful, "poller"))
}

func down(d *Decision, enough int, low time.Duration) string {
	return fmt.Sprintf("%s used, under %s for %s; %d would be enough: half of the surplus",
		percent(d.Use), percent(useLow), span(low), enough)
}

// hold says why nothing changes.
func hold(d *Decision, w want) string {
	switch {
	case d.Reading.Failing && waiting(d):
		return fmt.Sprintf("%s, but most invocations fail: more pollers would not help", behind(d))
	case w.count > d.From, d.Use < useLow && waiting(d):
		words := fmt.Sprintf("%s, but the pollers are not the limit: %s used", behind(d), percent(d.Use))
		if d.Reading.Scopes > 0 {
			words += fmt.Sprintf(", %s with work", plural(d.Reading.Scopes, "partition"))
		}
		return words
	default:
		return fmt.Sprintf("enough: %s, %s/s arriving, %s/s settled, %s used",
			behind(d), rate(d.ArrivingPerSecond), rate(d.SettledPerSecond), percent(d.Use))
	}
}

// waiting says whether more is behind than what a few seconds settle: lag that is no mere passing through.
func waiting(d *Decision) bool {
	const seconds = 5
	return float64(d.Reading.Lag-d.Reading.InFlight) > seconds*max(d.SettledPerSecond, 1)
}

func behind(d *Decision) string { return plural(int(d.Reading.Lag), "record") + " behind" }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// span prints whole minutes and seconds without the empty units behind them.
func span(d time.Duration) string {
	words := d.Round(time.Second).String()
	if strings.HasSuffix(words, "m0s") {
		words = strings.TrimSuffix(words, "0s")
	}
	if strings.HasSuffix(words, "h0m") {
		words = strings.TrimSuffix(words, "0m")
	}
	return words
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// rate prints small rates with a decimal, so that a slow mapping does not read as standing still.
func rate(perSecond float64) string {
	if perSecond < 9.95 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", perSecond), ".0")
	}
	return fmt.Sprintf("%.0f", perSecond)
}
