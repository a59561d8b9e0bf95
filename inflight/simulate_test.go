package inflight

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluicehq/sluice/record"
)

// TestSimulation drives a set with random fetches, results, revokes and clock steps, against an oracle that
// knows every record. A failure names the seed that repeats it.
func TestSimulation(t *testing.T) {
	seeds := 400
	if testing.Short() {
		seeds = 50
	}
	for seed := range seeds {
		if err := simulate(uint64(seed), 600); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// partitionOracle is what really happened to one partition, over all its assignments.
type partitionOracle struct {
	log       []*record.Record // records and control records, by offset, with gaps
	fetched   int              // index into log of the next to fetch, in this assignment
	settled   map[int64]bool   // data records with an outcome, ever
	committed record.Offset
	out       bool
}

type sim struct {
	rnd    *rand.Rand
	set    *Set
	now    time.Time
	parts  []*partitionOracle
	tps    []record.TopicPartition
	leases []*Lease
	limits Limits
}

func simulate(seed uint64, steps int) error {
	rnd := rand.New(rand.NewPCG(seed, 7))
	s := &sim{rnd: rnd, now: time.Unix(1_800_000_000, 0)}
	s.limits = Limits{
		BatchRecords: 1 + rnd.IntN(8), BatchBytes: int64(200 + rnd.IntN(400)),
		BatchingWindow: time.Duration(rnd.IntN(3)) * 100 * time.Millisecond,
	}
	s.set = NewSet(s.limits, plainSizes)
	for i := range 1 + rnd.IntN(5) {
		tp := record.TopicPartition{Topic: "t", Partition: int32(i)}
		s.tps = append(s.tps, tp)
		s.parts = append(s.parts, newPartition(rnd, tp))
		s.set.Assign(tp, 0, true, s.now)
	}
	for range steps {
		if err := s.step(); err != nil {
			return err
		}
	}
	return s.finish()
}

func newPartition(rnd *rand.Rand, tp record.TopicPartition) *partitionOracle {
	p := &partitionOracle{settled: map[int64]bool{}}
	off := int64(0)
	for range 20 + rnd.IntN(60) {
		if rnd.IntN(6) == 0 {
			off += int64(rnd.IntN(4)) // compacted away
		}
		r := &record.Record{Topic: tp.Topic, Partition: tp.Partition, Offset: off, Value: make([]byte, rnd.IntN(200))}
		if rnd.IntN(8) == 0 {
			r.Attrs = controlAttrs
		}
		p.log = append(p.log, r)
		off++
	}
	return p
}

func (s *sim) step() error {
	i := s.rnd.IntN(len(s.tps))
	tp, p := s.tps[i], s.parts[i]
	switch s.rnd.IntN(12) {
	case 0, 1, 2:
		n := min(1+s.rnd.IntN(6), len(p.log)-p.fetched)
		s.set.Admit(tp, append([]*record.Record(nil), p.log[p.fetched:p.fetched+n]...), s.now)
		p.fetched += n
	case 3, 4, 5:
		return s.acquire()
	case 6, 7, 8:
		if len(s.leases) > 0 {
			s.settle(s.rnd.IntN(len(s.leases)))
		}
	case 9:
		s.now = s.now.Add(time.Duration(s.rnd.IntN(300)) * time.Millisecond)
	case 10:
		if s.rnd.IntN(4) == 0 {
			s.reassign(i)
		}
	case 11:
		if err := s.commit(s.rnd.IntN(5) == 0); err != nil {
			return err
		}
	}
	return s.check()
}

func (s *sim) acquire() error {
	l, _ := s.set.Acquire(s.now, 1+s.rnd.IntN(6))
	if l == nil {
		return nil
	}
	n, encoded := 0, int64(plainSizes.Event)
	for _, run := range l.Runs {
		p := s.parts[run.Partition]
		if p.out {
			return fmt.Errorf("lease %d: %s is held by two leases", l.ID, run.TopicPartition)
		}
		p.out = true
		encoded += 10
		for _, r := range run.Records {
			encoded += int64(plainSizes.Record(r))
		}
		// Order: everything before the first record that was never settled must be settled or in this run.
		in := map[int64]bool{}
		for _, r := range run.Records {
			in[r.Offset] = true
		}
		for _, r := range p.log {
			if r.Offset >= int64(run.Last()) {
				break
			}
			if !r.Attrs.IsControl() && !p.settled[r.Offset] && !in[r.Offset] {
				return fmt.Errorf("lease %d hands out %s before %d is settled", l.ID, run.At(run.Last()), r.Offset)
			}
		}
		n += len(run.Records)
	}
	if n != l.Records || n > s.limits.BatchRecords || encoded != l.Encoded || (encoded > s.limits.BatchBytes && n > 1) {
		return fmt.Errorf("lease %d: %d records (said %d), %d bytes (said %d) against %+v", l.ID, n, l.Records, encoded, l.Encoded, s.limits)
	}
	s.leases = append(s.leases, l)
	return nil
}

// settle gives the lease a random result: all taken, some named, or split in two.
func (s *sim) settle(i int) {
	l := s.leases[i]
	s.leases = append(s.leases[:i], s.leases[i+1:]...)
	retry := make([][]record.Run, len(l.Runs))
	for j, run := range l.Runs {
		live := s.set.windows[run.TopicPartition].lease == l
		again := map[int64]bool{}
		switch s.rnd.IntN(4) {
		case 0:
			retry[j] = []record.Run{s.retryOf(run, run.Records)}
		case 1:
			k := s.rnd.IntN(len(run.Records))
			retry[j] = []record.Run{s.retryOf(run, run.Records[k:k+1])}
		case 2:
			if k := len(run.Records) / 2; k > 0 {
				retry[j] = []record.Run{s.retryOf(run, run.Records[:k]), s.retryOf(run, run.Records[k:])}
			}
		}
		for _, a := range retry[j] {
			for _, r := range a.Records {
				again[r.Offset] = true
			}
		}
		if live {
			s.parts[run.Partition].out = false
			for _, r := range run.Records {
				if !again[r.Offset] {
					s.parts[run.Partition].settled[r.Offset] = true
				}
			}
		}
	}
	s.set.Settle(l, retry, s.now)
}

func (s *sim) retryOf(run record.Run, recs []*record.Record) record.Run {
	at := s.now.Add(time.Duration(s.rnd.IntN(200)) * time.Millisecond)
	return record.Run{TopicPartition: run.TopicPartition, Records: recs, Retry: &record.Retry{NotBefore: at}}
}

// reassign takes the partition away and gives it back from its committed offset, as a rebalance does.
func (s *sim) reassign(i int) {
	tp, p := s.tps[i], s.parts[i]
	s.set.Drain(tp)
	if s.rnd.IntN(2) == 0 {
		_ = s.commit(false)
	}
	p.out = false
	s.set.Assign(tp, p.committed, true, s.now)
	p.fetched = 0
	for p.fetched < len(p.log) && record.Offset(p.log[p.fetched].Offset) < p.committed {
		p.fetched++
	}
}

func (s *sim) commit(fail bool) error {
	cs := s.set.Commits(nil)
	if fail {
		s.set.Uncommitted(cs)
		return nil
	}
	for _, c := range cs {
		p := s.parts[c.Partition]
		if c.Offset < p.committed {
			return fmt.Errorf("commit of %s goes back from %d to %d", c.TopicPartition, p.committed, c.Offset)
		}
		p.committed = c.Offset
		for _, r := range p.log {
			if record.Offset(r.Offset) < c.Offset && !r.Attrs.IsControl() && !p.settled[r.Offset] {
				return fmt.Errorf("commit of %s passes %d, which is not settled", c.TopicPartition.At(c.Offset), r.Offset)
			}
		}
	}
	return nil
}

// check recounts what the set keeps count of.
func (s *sim) check() error {
	records, bytes := 0, int64(0)
	for _, st := range s.set.States() {
		records += st.Records
		bytes += st.Bytes
	}
	if records != s.set.Records() || bytes != s.set.Bytes() || s.set.Leases() != len(s.leases) {
		return fmt.Errorf("counts: records %d (kept %d), bytes %d (kept %d), leases %d (kept %d)",
			records, s.set.Records(), bytes, s.set.Bytes(), len(s.leases), s.set.Leases())
	}
	for _, l := range []*list{&s.set.full, &s.set.partial} {
		n, recs, bytes := 0, 0, int64(0)
		for w := l.front; w != nil; w = w.succ {
			n, recs, bytes = n+1, recs+w.pending, bytes+w.pendingBytes
		}
		if n != l.len || recs != l.records || bytes != l.bytes {
			return fmt.Errorf("ready list: %d windows (kept %d), %d records (kept %d), %d bytes (kept %d)", n, l.len, recs, l.records, bytes, l.bytes)
		}
	}
	return nil
}

// finish lets everything succeed: all must settle, be committed to the end, and leave nothing behind.
func (s *sim) finish() error {
	for range 10_000 {
		for i, tp := range s.tps {
			p := s.parts[i]
			s.set.Admit(tp, append([]*record.Record(nil), p.log[p.fetched:]...), s.now)
			p.fetched = len(p.log)
		}
		for len(s.leases) > 0 {
			l := s.leases[0]
			s.leases = s.leases[1:]
			for _, run := range l.Runs {
				if s.set.windows[run.TopicPartition].lease == l {
					s.parts[run.Partition].out = false
					for _, r := range run.Records {
						s.parts[run.Partition].settled[r.Offset] = true
					}
				}
			}
			s.set.Settle(l, nil, s.now)
		}
		if s.set.Records() == 0 {
			break
		}
		s.now = s.now.Add(time.Second)
		if err := s.acquire(); err != nil {
			return err
		}
	}
	if err := s.commit(false); err != nil {
		return err
	}
	for i, p := range s.parts {
		end := record.Offset(p.log[len(p.log)-1].Offset) + 1
		if p.committed != end {
			return fmt.Errorf("%s ends committed at %d of %d", s.tps[i], p.committed, end)
		}
	}
	if s.set.Records() != 0 || s.set.Bytes() != 0 || len(s.set.waiting) != 0 || s.set.full.len+s.set.partial.len != 0 {
		return fmt.Errorf("something is left: %d records, %d bytes", s.set.Records(), s.set.Bytes())
	}
	return s.check()
}
