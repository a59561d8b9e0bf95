package inflight

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// response is a piece of memory that the records of several partitions lie in.
type response []byte

func (b response) holds(value []byte) bool {
	all := b[:cap(b)]
	for i := range all {
		if len(value) > 0 && &all[i] == &value[0] {
			return true
		}
	}
	return false
}

// fetched returns n records from an offset on whose bytes lie in one response.
func fetched(tp record.TopicPartition, from, n int) (response, []*record.Record) {
	b := make(response, 0, n*16)
	recs := make([]*record.Record, n)
	for i := range recs {
		at := len(b)
		b = append(b, "key.value.header"...)
		recs[i] = &record.Record{
			Topic: tp.Topic, Partition: tp.Partition, Offset: int64(from + i), Key: b[at : at+3], Value: b[at+4 : at+9],
			Headers: []kgo.RecordHeader{{Key: "h", Value: b[at+10 : at+16]}},
		}
	}
	return b, recs
}

func whole(r *record.Record) bool {
	return string(r.Key) == "key" && string(r.Value) == "value" && string(r.Headers[0].Value) == "header"
}

func TestUnshareCopiesWhatIsNotOut(t *testing.T) {
	now, tp := time.Unix(0, 0), record.TopicPartition{Topic: "t"}
	s := NewSet(Limits{BatchRecords: 2, BatchBytes: 1 << 20}, plainSizes)
	s.Assign(tp, 0, true, now)
	b, recs := fetched(tp, 0, 6)
	recs[5].Key, recs[5].Value = nil, []byte{}
	s.Admit(tp, recs, now)
	retried, _ := s.Acquire(now, 1)
	s.Settle(retried, [][]record.Run{{{TopicPartition: tp, Records: recs[:1], Retry: &record.Retry{NotBefore: now.Add(time.Hour)}}}}, now)
	if behind := s.Unshare(tp, 4); behind != 6 {
		t.Errorf("copied up to %d", behind)
	}
	w := s.windows[tp]
	left := append([]*record.Record{w.retries[0].Records[0]}, recs[1])
	for _, c := range w.queue {
		left = append(left, c...)
	}
	recs = left // 1 is settled
	for i, r := range recs {
		copied := !b.holds(r.Value) || i == 5
		if want := i == 0 || i >= 4; copied != want {
			t.Errorf("record %d copied: %v", i, copied)
		}
		if i < 5 && !whole(r) {
			t.Errorf("record %d has changed: %v", i, r)
		}
	}
	if recs[5].Key != nil || recs[5].Value == nil || len(recs[5].Value) != 0 {
		t.Error("nil and empty are not told apart any more")
	}
}

func TestUnshareLeavesAloneWhatTheFunctionReads(t *testing.T) {
	now, tp := time.Unix(0, 0), record.TopicPartition{Topic: "t"}
	s := NewSet(Limits{BatchRecords: 2, BatchBytes: 1 << 20}, plainSizes)
	s.Assign(tp, 0, true, now)
	b, recs := fetched(tp, 0, 4)
	s.Admit(tp, recs, now)
	s.Acquire(now, 1)
	s.Unshare(tp, 0)
	w := s.windows[tp]
	for _, r := range w.out.Records {
		if !b.holds(r.Value) {
			t.Errorf("record %d was taken from under the call", r.Offset)
		}
	}
	for _, r := range w.queue[0] {
		if b.holds(r.Value) {
			t.Errorf("record %d still lies in the response", r.Offset)
		}
	}
}

func TestStarving(t *testing.T) {
	now, tp := time.Unix(0, 0), record.TopicPartition{Topic: "t"}
	s := NewSet(Limits{BatchRecords: 2, BatchBytes: 1 << 20, BatchingWindow: time.Minute}, plainSizes)
	is := func(want bool, when string) {
		t.Helper()
		if s.Starving(tp) != want {
			t.Errorf("%s: %v", when, !want)
		}
	}
	is(false, "without a window")
	s.Assign(tp, 0, true, now)
	is(true, "with nothing")
	_, recs := fetched(tp, 0, 3)
	s.Admit(tp, recs[:1], now)
	is(true, "with half a batch")
	s.Admit(tp, recs[1:], now)
	is(false, "with a batch")
	l, _ := s.Acquire(now, 1)
	is(false, "with a batch out")
	s.Settle(l, nil, now)
	is(true, "with the rest of it")
}
