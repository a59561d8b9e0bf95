package group

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/filter"
	"github.com/sluicehq/sluice/record"
)

// What the filter leaves comes in its order, with control records; where it is little of a poll it does not hold the responses.
func TestSift(t *testing.T) {
	patterns, err := filter.Compile(`{"value":{"n":[{"numeric":["<",10]}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	f := &Feed{config: Config{Filter: patterns}}
	partition := func(number int32, from, to, filler int) kgo.FetchPartition {
		p := kgo.FetchPartition{Partition: number}
		for n := from; n < to; n++ {
			value := fmt.Appendf(nil, `{"n":%d}`, n)
			if n >= 10 {
				value = append(value, bytes.Repeat([]byte(" "), filler)...)
			}
			p.Records = append(p.Records, &record.Record{Partition: number, Offset: int64(n), Value: value})
		}
		return p
	}
	type partitions = []kgo.FetchPartition
	few := partition(1, 8, 100, 0)
	few.Records = append(few.Records, &record.Record{Partition: 1, Offset: 100, Attrs: kgo.NewRecordAttrs(kgo.RecordAttrsOpts{Control: true})})
	first := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for name, tc := range map[string]struct {
		poll   partitions
		want   [][]int64
		copied bool
	}{
		"many":                  {partitions{partition(0, 0, 15, 0), {Partition: 3}}, [][]int64{first}, false},
		"few":                   {partitions{{Partition: 3}, few}, [][]int64{{8, 9, 100}}, true},
		"none":                  {partitions{partition(2, 10, 20, 0)}, [][]int64{nil}, true},
		"many, but small":       {partitions{partition(0, 0, 15, 100)}, [][]int64{first}, true},
		"all beside large ones": {partitions{partition(0, 0, 10, 0), partition(1, 10, 12, 1000)}, [][]int64{first, nil}, true},
		"all beside small ones": {partitions{partition(0, 0, 10, 0), partition(1, 10, 12, 0)}, [][]int64{first, nil}, false},
	} {
		s := f.sift(kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "orders", Partitions: tc.poll}}}})
		if s.copied != tc.copied {
			t.Errorf("%s: copied %v", name, s.copied)
		}
		came, left := 0, 0
		for _, p := range tc.poll {
			if len(p.Records) == 0 {
				continue
			}
			came += len(p.Records)
			records := s.next(p.Records)
			left += len(records)
			var got []int64
			for _, r := range records {
				got = append(got, r.Offset)
				if own := !slices.Contains(p.Records, r); own != tc.copied {
					t.Errorf("%s, offset %d: copied %v", name, r.Offset, own)
				}
				if !r.Attrs.IsControl() && !bytes.HasPrefix(r.Value, fmt.Appendf(nil, `{"n":%d}`, r.Offset)) {
					t.Errorf("%s, offset %d: %s", name, r.Offset, r.Value)
				}
			}
			if !slices.Equal(got, tc.want[0]) {
				t.Errorf("%s: %v of partition %d", name, got, p.Partition)
			}
			tc.want = tc.want[1:]
		}
		if s.out != came-left {
			t.Errorf("%s: %d are out, want %d", name, s.out, came-left)
		}
	}
}

func TestWithoutAFilterAllIsWanted(t *testing.T) {
	recs := []*record.Record{{}, {}}
	s := (&Feed{}).sift(kgo.Fetches{{Topics: []kgo.FetchTopic{{Partitions: []kgo.FetchPartition{{Records: recs}}}}}})
	if w := s.next(recs); len(w) != 2 || s.copied || s.out != 0 {
		t.Errorf("%+v, %d out", w, s.out)
	}
}
