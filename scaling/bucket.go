package scaling

import (
	"math"
	"time"
)

// Burst is how much unused budget a poller may save up: that of one second (product contract, «Scaling»).
const Burst = time.Second

// Bucket is the byte budget of one poller: a token bucket that may go into debt. Whoever takes records asks Ready before,
// and charges what was taken after; the last thing taken may be larger than what was left, and the debt is waited off
// before the next. So over a time T a poller takes at most rate×(T + Burst) and what it took last, in the long run exactly
// its rate.
//
// A new bucket has saved nothing up: its poller may take at once, and from then on at its rate. One that idles for a
// second or more may then be ahead by one second's worth; measured over 30 s that is 3.3 %.
//
// The zero value, and any with rate 0, is unlimited. A Bucket is not safe for concurrent use.
type Bucket struct {
	rate  float64 // bytes per second; 0 is unlimited
	saved float64 // bytes; negative is debt
	at    time.Time
}

// NewBucket returns a bucket for a rate in bytes per second; 0 or less means unlimited.
func NewBucket(now time.Time, rate int64) Bucket {
	return Bucket{rate: float64(max(rate, 0)), at: now}
}

// Ready says how long to wait until something may be taken; 0 means now.
func (b *Bucket) Ready(now time.Time) time.Duration {
	b.fill(now)
	if b.rate == 0 || b.saved >= 0 {
		return 0
	}
	// Rounded up, so that whoever waits as long as told is ready then, and at least a nanosecond.
	return time.Duration(math.Ceil(-b.saved / b.rate * float64(time.Second)))
}

// Charge takes n bytes out, which may lead into debt.
func (b *Bucket) Charge(now time.Time, n int64) {
	b.fill(now)
	if b.rate > 0 {
		b.saved -= float64(n)
	}
}

// Rate returns the rate in bytes per second; 0 means unlimited.
func (b *Bucket) Rate() int64 { return int64(b.rate) }

// SetRate changes the rate from now on. Debt is kept, and waited off at the new rate; what was saved is cut to the new
// burst. Without a limit debt is forgotten.
func (b *Bucket) SetRate(now time.Time, rate int64) {
	b.fill(now)
	b.rate = float64(max(rate, 0))
	if b.rate == 0 {
		b.saved = 0
	}
	b.saved = min(b.saved, b.burst())
}

func (b *Bucket) burst() float64 { return b.rate * Burst.Seconds() }

// fill adds what the time since the last call is worth. A clock that goes back adds nothing and costs nothing.
func (b *Bucket) fill(now time.Time) {
	if since := now.Sub(b.at); since > 0 {
		b.saved = min(b.saved+since.Seconds()*b.rate, b.burst())
		b.at = now
	}
}
