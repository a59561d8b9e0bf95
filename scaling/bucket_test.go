package scaling

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// take plays a poller that always has work: batches of the given sizes, each as soon as the bucket lets it.
func take(b *Bucket, from time.Time, d time.Duration, batch func() int64) (total, largest int64) {
	now := from
	for {
		if wait := b.Ready(now); wait > 0 {
			now = now.Add(wait)
		}
		if now.Sub(from) >= d {
			return total, largest
		}
		n := batch()
		b.Charge(now, n)
		total += n
		largest = max(largest, n)
		now = now.Add(50 * time.Microsecond) // it takes a moment to go round
	}
}

// The contract's own measure: 5 MB/s over 30 s, within 5 %, and two pollers twice that.
func TestAPollersRateOver30Seconds(t *testing.T) {
	for _, batch := range []int64{100, 100_000, 1_000_000, 6_000_000} {
		for _, idle := range []time.Duration{0, time.Minute} {
			t.Run(fmt.Sprintf("batches of %d bytes after %s", batch, idle), func(t *testing.T) {
				b := NewBucket(start, ProvisionedBytesPerSecond)
				from := start.Add(idle)
				got, _ := take(&b, from, 30*time.Second, func() int64 { return batch })
				rate := float64(got) / 30
				// After idling it may be a burst ahead, and by what it took last.
				most := 5e6 + float64(batch)/30
				if idle > 0 {
					most += 5e6 / 30
				}
				if rate < 0.99*5e6 && batch >= 100_000 || rate > most*1.001 {
					t.Errorf("%.0f bytes/s, want 5e6 to %.0f", rate, most)
				}
			})
		}
	}
}

func TestTheLongRunIsExact(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		rate := int64(1 + r.IntN(50_000_000))
		b := NewBucket(start, rate)
		const long = time.Hour
		// Batches worth up to two seconds: each leads into debt.
		got, _ := take(&b, start, long, func() int64 { return 1 + r.Int64N(2*rate) })
		if share := float64(got) / (float64(rate) * long.Seconds()); share < 0.998 || share > 1.002 {
			t.Errorf("seed %d, %d bytes/s: took %.4f of it in an hour", seed, rate, share)
		}
	}
}

func TestNoWindowHoldsMoreThanBurstAndLastBatch(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		const rate = 1_000_000
		b := NewBucket(start, rate)
		now := start
		type taken struct {
			at time.Time
			n  int64
		}
		var log []taken
		for range 300 {
			now = now.Add(time.Duration(r.Int64N(int64(400 * time.Millisecond))))
			if b.Ready(now) == 0 {
				n := r.Int64N(3 * rate)
				b.Charge(now, n)
				log = append(log, taken{now, n})
			}
		}
		for i := range log {
			var before int64 // without the last, which may go into debt
			for j := i; j < len(log); j++ {
				within := log[j].at.Sub(log[i].at) + Burst
				if float64(before) > rate*within.Seconds()+1 {
					t.Fatalf("seed %d: %d bytes within %s before one more was let in", seed, before, within)
				}
				before += log[j].n
			}
		}
	}
}

func TestWaitingAsToldIsEnough(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := NewBucket(start, 1+r.Int64N(1e9))
		now := start
		for range 20 {
			b.Charge(now, r.Int64N(1e9))
			wait := b.Ready(now)
			now = now.Add(wait)
			if again := b.Ready(now); again != 0 {
				t.Fatalf("seed %d: waited %s as told, and should wait %s more", seed, wait, again)
			}
		}
	}
}

func TestBucketRules(t *testing.T) {
	t.Run("unlimited never waits", func(t *testing.T) {
		var zero Bucket
		b := NewBucket(start, 0)
		for _, b := range []*Bucket{&zero, &b} {
			b.Charge(start, 1<<60)
			if w := b.Ready(start); w != 0 {
				t.Errorf("waits %s", w)
			}
		}
	})
	t.Run("one large record runs into debt, which is waited off", func(t *testing.T) {
		b := NewBucket(start, 1000)
		b.Charge(start, 5000)
		if w := b.Ready(start); w != 5*time.Second {
			t.Errorf("waits %s, want 5s", w)
		}
	})
	t.Run("no more than a second is saved up", func(t *testing.T) {
		b := NewBucket(start, 1000)
		b.Charge(start.Add(time.Hour), 1500)
		if w := b.Ready(start.Add(time.Hour)); w != 500*time.Millisecond {
			t.Errorf("waits %s, want 500ms", w)
		}
	})
	t.Run("debt is waited off at the new rate", func(t *testing.T) {
		b := NewBucket(start, 1000)
		b.Charge(start, 4000)
		b.SetRate(start.Add(time.Second), 3000)
		if w := b.Ready(start.Add(time.Second)); w != time.Second {
			t.Errorf("waits %s, want 1s", w)
		}
		b.SetRate(start.Add(time.Second), 0)
		if w := b.Ready(start.Add(time.Second)); w != 0 || b.Rate() != 0 {
			t.Errorf("unlimited, and waits %s", w)
		}
		b.SetRate(start.Add(time.Second), 1000)
		if w := b.Ready(start.Add(time.Second)); w != 0 {
			t.Errorf("the old debt is back: %s", w)
		}
	})
	t.Run("what was saved is cut to the new burst", func(t *testing.T) {
		b := NewBucket(start, 10_000)
		now := start.Add(time.Second)
		b.SetRate(now, 100)
		b.Charge(now, 200)
		if w := b.Ready(now); w != time.Second {
			t.Errorf("waits %s, want 1s", w)
		}
	})
	t.Run("a clock that goes back neither gives nor takes", func(t *testing.T) {
		b := NewBucket(start, 1000)
		b.Charge(start, 1000)
		b.Ready(start.Add(-time.Hour))
		if w := b.Ready(start); w != time.Second {
			t.Errorf("waits %s, want 1s", w)
		}
	})
}
