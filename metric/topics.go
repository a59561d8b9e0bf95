package metric

// TopicsMax bounds the topics that one TopicCounter tells apart; what concerns further ones is counted under OtherTopic,
// which is no topic's name.
const TopicsMax = 1000

// OtherTopic stands for the topics beyond TopicsMax.
const OtherTopic = "(other)"

// TopicCounter counts by topic. The zero value is ready. A topic that nothing was counted for has no series.
type TopicCounter struct{ named }

// Add adds n, which is not negative.
func (c *TopicCounter) Add(topic string, n int64) { c.add(topic, n, TopicsMax, OtherTopic) }

// ByTopic returns a copy of the counts.
func (c *TopicCounter) ByTopic() map[string]int64 { return c.byName() }
