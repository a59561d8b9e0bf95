package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
)

// clean takes out what could move a terminal's cursor or break a line: function errors are others' text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case !unicode.IsGraphic(r):
			return '·'
		}
		return r
	}, s)
}

// number groups thousands.
func number(n int64) string { return humanize.Comma(n) }

// maybe is a number, or a question mark while it is unknown.
func maybe(n *int64) string {
	if n == nil {
		return "?"
	}
	return number(*n)
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(int64(n)) + " " + noun + "s"
}

// rate has a decimal where it is small, so that a slow mapping does not read as standing still.
func rate(perSecond float64) string {
	if perSecond > 0 && perSecond < 10 {
		return strconv.FormatFloat(perSecond, 'f', 1, 64)
	}
	return number(int64(perSecond + 0.5))
}

// bytes are in powers of ten, as the throughput of pollers is.
func bytes(n float64) string { return humanize.Bytes(uint64(max(n, 0))) }

func partition(topic string, number int32) string { return fmt.Sprintf("%s-%d", clean(topic), number) }

func seconds(s float64) string { return span(time.Duration(s * float64(time.Second))) }

// span is a duration in its two largest units: 95 s is 1m35s, 26 h is 1d2h.
func span(d time.Duration) string {
	d = max(d, 0)
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return two(d, day, "d", time.Hour, "h")
	case d >= time.Hour:
		return two(d, time.Hour, "h", time.Minute, "m")
	case d >= time.Minute:
		return two(d, time.Minute, "m", time.Second, "s")
	}
	return fmt.Sprintf("%ds", int(d/time.Second))
}

func two(d, large time.Duration, largeUnit string, small time.Duration, smallUnit string) string {
	words := fmt.Sprintf("%d%s", d/large, largeUnit)
	if rest := d % large / small; rest > 0 {
		words += fmt.Sprintf("%d%s", rest, smallUnit)
	}
	return words
}
