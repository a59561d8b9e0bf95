package field

import (
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	good := map[string]time.Duration{
		"30s": 30 * time.Second, "1m30s": 90 * time.Second, "500ms": 500 * time.Millisecond, "0s": 0, "1.5h": 90 * time.Minute, "2µs": 2 * time.Microsecond,
	}
	for text, want := range good {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "30", "-1s", "+1s", "1 s", "s", ".5s", "1d", "9999999999h", "1s "} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestSizesAndRates(t *testing.T) {
	sizes := map[string]int64{"0": 0, "512": 512, "512B": 512, "6MB": 6e6, "6 MiB": 6 << 20, "1.5GiB": 3 << 29, "1KB": 1000, "1KiB": 1024, "0.5B": 1}
	for text, want := range sizes {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MB", "-1MB", "5mb", "5Mbit", "1e3B", "5MB/s", "99999999999999GB", " 5MB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
	rates := map[string]int64{"5MB/s": 5e6, "2.5 MB/s": 25e5, "1KiB/s": 1024, "unlimited": 0}
	for text, want := range rates {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "5/s", "5MB", "Unlimited", "5MB/m", "/s"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestInstants(t *testing.T) {
	want := time.Date(2026, 11, 30, 10, 15, 0, 500e6, time.UTC)
	for _, text := range []string{"2026-11-30T10:15:00.5Z", "2026-11-30T11:15:00.5+01:00", "1796033700.5"} {
		if got, err := ParseTime(text); err != nil || !got.Equal(want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "now", "-1", "2026-11-30", "2026-11-30 10:15:00", "1e9", "inf", "nan", "253402300800", "1969-12-31T23:59:59Z", "2026-13-01T00:00:00Z"} {
		if got, err := ParseTime(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func FuzzScalars(f *testing.F) {
	for _, seed := range []string{"30s", "6MB", "5MB/s", "unlimited", "1796033700.5", "2026-11-30T10:15:00Z", "1m0s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDuration(text); err == nil {
			if again, err := ParseDuration(FormatDuration(d)); d < 0 || err != nil || again != d {
				t.Errorf("duration %q: %v is %v, %v when read again", text, d, again, err)
			}
		}
		if n, err := ParseSize(text); err == nil {
			if again, err := ParseSize(FormatSize(n)); n < 0 || err != nil || again != n {
				t.Errorf("size %q: %d is %d, %v when read again", text, n, again, err)
			}
		}
		if n, err := ParseRate(text); err == nil && n > 0 {
			if again, err := ParseRate(FormatRate(n)); err != nil || again != n {
				t.Errorf("rate %q: %d is %d, %v when read again", text, n, again, err)
			}
		}
		if at, err := ParseTime(text); err == nil {
			if again, err := ParseTime(at.Format(time.RFC3339Nano)); err != nil || !again.Equal(at) {
				t.Errorf("instant %q: %v is %v, %v when read again", text, at, again, err)
			}
		}
	})
}
