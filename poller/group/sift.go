package group

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/record"
)

// sifted is what the filter left of a poll.
type sifted struct {
	all  bool     // there is no filter
	left []wanted // one for each partition with records, in the order of the poll
	out  int      // records that were filtered out
}

// wanted is what it left of one partition.
type wanted struct {
	records []*record.Record
	copied  bool // they do not hold the response that they came in
}

// next returns what is left of the next partition, whose records are given as they came.
func (s *sifted) next(came []*record.Record) wanted {
	if s.all {
		return wanted{records: came}
	}
	w := s.left[0]
	s.left = s.left[1:]
	return w
}

// sift asks the filter for each record of a poll. It is called without the feed's mutex: a large poll takes milliseconds.
//
// Where less than half of a partition's records are left, they are copied: each would hold the whole response.
func (f *Feed) sift(fetches kgo.Fetches) (s sifted) {
	filter := f.config.Filter
	if filter == nil {
		return sifted{all: true}
	}
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) == 0 {
			return
		}
		left := slices.DeleteFunc(slices.Clone(p.Records), func(r *record.Record) bool {
			return !r.Attrs.IsControl() && !filter.Match(r)
		})
		s.out += len(p.Records) - len(left)
		w := wanted{records: left}
		if 2*len(left) < len(p.Records) {
			w = wanted{inflight.Copy(left), true}
		}
		s.left = append(s.left, w)
	})
	return s
}
