package field

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var durationText = regexp.MustCompile(durationPattern)

// durationPattern is what [ParseDuration] reads: Go's durations without a sign, each part with its unit.
const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`

// ParseDuration reads «30s», «1m30s» or «500ms»: Go's notation (time.ParseDuration) without a sign, at most about 292 years.
func ParseDuration(text string) (time.Duration, error) {
	if !durationText.MatchString(text) {
		return 0, fmt.Errorf("is not a duration")
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("is not a duration")
	}
	return d, nil
}

// FormatDuration writes d as [ParseDuration] reads it, without zero parts: «1m», not «1m0s».
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// sizeUnits are the units of sizes, the largest first; the K, M, G of the trade are powers of ten, as in «5 MB/s a poller».
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}, {"B", 1},
}

const sizePattern = `^[0-9]+(\.[0-9]+)? ?(B|KB|KiB|MB|MiB|GB|GiB)$`

var sizeText = regexp.MustCompile(sizePattern)

// ParseSize reads «6MB», «1.5 GiB» or «512B» as bytes: KB, MB and GB are powers of 1000, KiB, MiB and GiB of 1024. A bare
// number is bytes.
func ParseSize(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	if !sizeText.MatchString(text) {
		return 0, fmt.Errorf("is not a size")
	}
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		number = strings.TrimSpace(number)
		if whole, err := strconv.ParseInt(number, 10, 64); err == nil && whole <= math.MaxInt64/u.bytes {
			return whole * u.bytes, nil // exact, where a float64 is not
		}
		f, err := strconv.ParseFloat(number, 64)
		if f *= float64(u.bytes); err != nil || f >= math.MaxInt64 {
			return 0, fmt.Errorf("is too large a size")
		}
		return int64(math.Round(f)), nil
	}
	return 0, fmt.Errorf("is not a size")
}

// FormatSize writes bytes in the largest unit that divides them, as [ParseSize] reads it.
func FormatSize(bytes int64) string {
	for _, u := range sizeUnits {
		if bytes >= u.bytes && bytes%u.bytes == 0 {
			return strconv.FormatInt(bytes/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

const ratePattern = `^(unlimited|[0-9]+(\.[0-9]+)? ?(B|KB|KiB|MB|MiB|GB|GiB)/s)$`

// ParseRate reads «5MB/s» as bytes a second, and «unlimited» as 0. The units are those of [ParseSize].
func ParseRate(text string) (int64, error) {
	if text == "unlimited" {
		return 0, nil
	}
	size, ok := strings.CutSuffix(text, "/s")
	if !ok || !sizeText.MatchString(size) {
		return 0, fmt.Errorf("is not a rate")
	}
	return ParseSize(size)
}

// FormatRate writes bytes a second as [ParseRate] reads them.
func FormatRate(bytes int64) string {
	if bytes == 0 {
		return "unlimited"
	}
	return FormatSize(bytes) + "/s"
}

const (
	secondsPattern = `^[0-9]{1,12}(\.[0-9]{1,9})?$`
	instantPattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$`
	// lastSecond is the last second of the year 9999.
	lastSecond = 253402300799
)

var (
	secondsText = regexp.MustCompile(secondsPattern)
	instantText = regexp.MustCompile(instantPattern)
)

// ParseTime reads an instant: RFC 3339 («2026-11-30T10:15:00Z») or seconds since the epoch, fractions allowed, as AWS's
// timestamps have them. It knows the years 1970 to 9999.
func ParseTime(text string) (time.Time, error) {
	if secondsText.MatchString(text) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("is not an instant")
		}
		return secondsToTime(f)
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || !instantText.MatchString(text) || t.Unix() < 0 || t.Unix() > lastSecond {
		return time.Time{}, fmt.Errorf("is not an instant")
	}
	return t.UTC(), nil
}

// secondsToTime reads seconds since the epoch, to the millisecond.
func secondsToTime(f float64) (time.Time, error) {
	if !(f >= 0 && f <= lastSecond) {
		return time.Time{}, fmt.Errorf("is out of range")
	}
	whole, fraction := math.Modf(f)
	return time.Unix(int64(whole), int64(math.Round(fraction*1e3))*int64(time.Millisecond)).UTC(), nil
}
