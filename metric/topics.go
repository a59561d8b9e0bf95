package metric

import (
	"maps"
	"sync"
)

// TopicsMax bounds the topics that one TopicCounter tells apart; what concerns further ones is counted under OtherTopic,
// which is no topic's name.
const TopicsMax = 1000

// OtherTopic stands for the topics beyond TopicsMax.
const OtherTopic = "(other)"

// TopicCounter counts by topic. The zero value is ready. A topic that nothing was counted for has no series.
type TopicCounter struct {
	mu     sync.Mutex
	counts map[string]int64
}

// Add adds n, which is not negative.
func (c *TopicCounter) Add(topic string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int64{}
	}
	if _, known := c.counts[topic]; !known && len(c.counts) >= TopicsMax {
		topic = OtherTopic
	}
	c.counts[topic] += n
}

// Value returns the count over all topics.
func (c *TopicCounter) Value() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum int64
	for _, n := range c.counts {
		sum += n
	}
	return sum
}

// ByTopic returns a copy of the counts.
func (c *TopicCounter) ByTopic() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts)
}
