package group

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/filter"
	"github.com/sluicehq/sluice/record"
)

// What the filter leaves comes in its order, with control records; where it is little it does not hold the response.
func TestSift(t *testing.T) {
	patterns, err := filter.Compile(`{"value":{"n":[{"numeric":["<",10]}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	f := &Feed{config: Config{Filter: patterns}}
	response := []byte{}
	partition := func(number int32, from, to int) kgo.FetchPartition {
		p := kgo.FetchPartition{Partition: number}
		for n := from; n < to; n++ {
			at := len(response)
			response = fmt.Appendf(response, `{"n":%d}`, n)
			p.Records = append(p.Records, &record.Record{Partition: number, Offset: int64(n), Value: response[at:]})
		}
		return p
	}
	many, few, none := partition(0, 0, 15), partition(1, 8, 100), partition(2, 10, 20)
	control := &record.Record{Partition: 1, Offset: 100, Attrs: kgo.NewRecordAttrs(kgo.RecordAttrsOpts{Control: true})}
	few.Records = append(few.Records, control)
	empty := kgo.FetchPartition{Partition: 3}
	s := f.sift(kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "orders", Partitions: []kgo.FetchPartition{many, empty, few, none}}}}})

	if want := 5 + 90 + 10; s.out != want {
		t.Errorf("%d are out, want %d", s.out, want)
	}
	for i, tc := range []struct {
		from   kgo.FetchPartition
		want   []int64
		copied bool
	}{
		{many, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, false},
		{few, []int64{8, 9, 100}, true},
		{none, nil, true},
	} {
		before := len(tc.from.Records)
		w := s.next(tc.from.Records)
		var got []int64
		for j, r := range w.records {
			got = append(got, r.Offset)
			if own := r != tc.from.Records[j]; own != tc.copied && !r.Attrs.IsControl() {
				t.Errorf("partition %d, offset %d: copied %v", i, r.Offset, own)
			}
			if !r.Attrs.IsControl() && !bytes.Equal(r.Value, fmt.Appendf(nil, `{"n":%d}`, r.Offset)) {
				t.Errorf("partition %d, offset %d: %s", i, r.Offset, r.Value)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(tc.want) || w.copied != tc.copied || len(tc.from.Records) != before {
			t.Errorf("partition %d: %v, copied %v, of %d", i, got, w.copied, len(tc.from.Records))
		}
	}
}

func TestWithoutAFilterAllIsWanted(t *testing.T) {
	recs := []*record.Record{{}, {}}
	s := (&Feed{}).sift(kgo.Fetches{{Topics: []kgo.FetchTopic{{Partitions: []kgo.FetchPartition{{Records: recs}}}}}})
	if w := s.next(recs); len(w.records) != 2 || w.copied || s.out != 0 {
		t.Errorf("%+v, %d out", w, s.out)
	}
}
