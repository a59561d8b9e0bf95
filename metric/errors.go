package metric

import "sync"

// ErrorKindsMax bounds the kinds that one ErrorCounter tells apart; errors of further kinds are counted as OtherKind.
// Sluice itself has about ten kinds of invocation errors; Kafka's protocol has some 130 error codes, of which a healthy
// cluster shows a handful.
const ErrorKindsMax = 32

// OtherKind is the kind of errors beyond ErrorKindsMax, and of those that name none.
const OtherKind = "Other"

// ErrorCounter counts errors by kind. The zero value is ready. CloudWatch emits error metrics only when an error
// occurs; so does it: a kind that was never seen has no series.
type ErrorCounter struct {
	mu     sync.Mutex
	counts map[string]int64
}

// Inc counts one error. The kind is a word of a small closed set, never a message.
func (c *ErrorCounter) Inc(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int64{}
	}
	_, known := c.counts[kind]
	if kind == "" || !known && len(c.counts) >= ErrorKindsMax {
		kind = OtherKind
	}
	c.counts[kind]++
}

// Value returns the errors of all kinds.
func (c *ErrorCounter) Value() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum int64
	for _, n := range c.counts {
		sum += n
	}
	return sum
}

// ByKind returns a copy of the counts.
func (c *ErrorCounter) ByKind() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := make(map[string]int64, len(c.counts))
	for k, n := range c.counts {
		counts[k] = n
	}
	return counts
}
