package group

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/record"
)

// sifted is what the filter left of a poll.
type sifted struct {
	all    bool               // there is no filter
	left   [][]*record.Record // one for each partition with records, in the order of the poll
	copied bool               // they do not hold the responses that they came in
	out    int                // records that were filtered out
}

// next returns what is left of the next partition, whose records are given as they came.
func (s *sifted) next(came []*record.Record) []*record.Record {
	if s.all {
		return came
	}
	left := s.left[0]
	s.left = s.left[1:]
	return left
}

// sift asks the filter for each record of a poll. It is called without the feed's mutex: a large poll takes milliseconds.
//
// Where less than half of a poll is left, by bytes, that is copied: each record would hold a whole response, with what was
// filtered out of it, of its partition and of others, which nothing else counts.
func (f *Feed) sift(fetches kgo.Fetches) (s sifted) {
	filter := f.config.Filter
	if filter == nil {
		return sifted{all: true}
	}
	var came, stay int64
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) == 0 {
			return
		}
		left := make([]*record.Record, 0, len(p.Records))
		for _, r := range p.Records {
			bytes := record.Bytes(r)
			came += bytes
			if r.Attrs.IsControl() || filter.Match(r) {
				stay += bytes
				left = append(left, r)
			}
		}
		s.out += len(p.Records) - len(left)
		s.left = append(s.left, left)
	})
	if s.copied = 2*stay < came; s.copied {
		for i, left := range s.left {
			s.left[i] = inflight.Copy(left)
		}
	}
	return s
}
