package metric

import (
	"maps"
	"sync"
)

// named counts by a name, and tells a bounded number of names apart. The zero value is ready. A name that nothing was
// counted for is missing.
type named struct {
	mu     sync.Mutex
	counts map[string]int64
}

// add adds n under the name, or under other once so many names are known.
func (c *named) add(name string, n int64, most int, other string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int64{}
	}
	if _, known := c.counts[name]; !known && len(c.counts) >= most {
		name = other
	}
	c.counts[name] += n
}

// Value returns the sum over all names.
func (c *named) Value() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum int64
	for _, n := range c.counts {
		sum += n
	}
	return sum
}

func (c *named) byName() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := make(map[string]int64, len(c.counts))
	maps.Copy(counts, c.counts)
	return counts
}
