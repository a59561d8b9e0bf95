package admin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/record"
)

// ParsePartition reads a partition as people write it: «orders-3», or «3» for this partition of every topic of a
// mapping, which comes back with an empty topic. What stands behind the last hyphen is the number.
func ParsePartition(s string) (record.TopicPartition, error) {
	topic, number := "", s
	if i := strings.LastIndexByte(s, '-'); i > 0 {
		topic, number = s[:i], s[i+1:]
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || number != strconv.FormatUint(n, 10) {
		return record.TopicPartition{}, fmt.Errorf("partition %q: allowed are TOPIC-NUMBER (orders-3) or NUMBER (3)", s)
	}
	return record.TopicPartition{Topic: topic, Partition: int32(n)}, nil
}
