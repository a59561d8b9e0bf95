package group_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// TestStress drives members of one group through joins, leaves, failures, full buffers, moved leaders and broker errors
// by a seed, while records keep coming. In the end every record was taken, no record was handed over before all earlier
// ones of its partition had been taken, and everything is committed. SLUICE_STRESS_SEED repeats a seed's script (not its
// timing), SLUICE_STRESS_FOR makes it longer.
func TestStress(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	seed := rand.Uint64()
	if s := os.Getenv("SLUICE_STRESS_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	length := 6 * time.Second
	if d, err := time.ParseDuration(os.Getenv("SLUICE_STRESS_FOR")); err == nil {
		length = d
	}
	t.Logf("SLUICE_STRESS_SEED=%d", seed)
	for _, by := range []group.Protocol{group.Classic, group.Consumer} {
		t.Run(by.String(), func(t *testing.T) {
			protocol.is(t, by)
			s := &stress{
				t: t, rnd: rand.New(rand.NewPCG(seed, 1)),
				cluster: kafkatest.Fake(t, kafkatest.Options{Brokers: 3}), mood: rand.New(rand.NewPCG(seed, 2)),
			}
			s.run(length)
		})
	}
}

const stressPartitions = 12

type stress struct {
	t       *testing.T
	rnd     *rand.Rand // of the test's goroutine
	cluster *kafkatest.Cluster
	members []*member
	fn      *scripted
	sent    [stressPartitions]int

	calm atomic.Bool // calls succeed at once
	mu   sync.Mutex
	mood *rand.Rand // how calls end
}

func (s *stress) run(length time.Duration) {
	s.cluster.CreateTopic("orders", stressPartitions, nil)
	s.fn = target(func(_ int, ids []string) (invoke.Response, error) { return s.answer(len(ids)) })
	s.join()
	for end := time.Now().Add(length); time.Now().Before(end); {
		s.produce()
		s.step()
		time.Sleep(time.Duration(s.rnd.IntN(60)) * time.Millisecond)
	}
	if len(s.members) == 0 {
		s.join()
	}
	s.calm.Store(true)
	for _, m := range s.members {
		m.pool.Resize(2)
	}
	s.cluster.WaitLagZero("g-m", []string{"orders"}, 60*time.Second)
	for _, m := range s.members {
		s.stop(m)
	}
	s.check()
}

// stop ends a member. kfake may forget a join, for which the member then waits as long as it may; that it does not end
// in order then is no fault.
func (s *stress) stop(m *member) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := m.pool.Close(ctx); err != nil {
		s.t.Errorf("closing the pool: %v", err)
	}
	if err := m.feed.Stop(ctx); err != nil && !errors.Is(err, lifecycle.ErrCut) {
		s.t.Errorf("stopping the feed: %v", err)
	}
}

func (s *stress) join() {
	buffer := int64(32<<10) << s.rnd.IntN(6)
	policy := failure.Policy{MaximumRetryAttempts: -1, Bisect: s.rnd.IntN(2) == 0, InitialBackoff: time.Millisecond, MaximumBackoff: 50 * time.Millisecond}
	window := time.Duration(s.rnd.IntN(3)) * 10 * time.Millisecond
	drain := time.Duration(1+s.rnd.IntN(300)) * time.Millisecond
	s.members = append(s.members, join(s.t, s.cluster, "m", []string{"orders"}, s.fn, options{
		pollers: 1 + s.rnd.IntN(3), policy: policy,
		config: func(c *group.Config) {
			c.BufferBytes, c.DrainTimeout, c.Limits.BatchingWindow = buffer, drain, window
			c.SessionTimeout = 10 * time.Second
			dial := c.Dial
			c.Dial = func(opts ...kgo.Opt) (*kgo.Client, error) { // kfake may forget a join: it is then waited for this long
				return dial(append(opts, kgo.RebalanceTimeout(5*time.Second))...)
			}
			c.Limits.BatchRecords = 1 + s.rnd.IntN(20)
		},
	}))
}

func (s *stress) leave() {
	i := s.rnd.IntN(len(s.members))
	m := s.members[i]
	s.members = slices.Delete(s.members, i, i+1)
	s.stop(m)
}

func (s *stress) step() {
	switch s.rnd.IntN(12) {
	case 0:
		if len(s.members) < 4 {
			s.join()
		}
	case 1:
		if len(s.members) > 1 || s.rnd.IntN(4) == 0 && len(s.members) > 0 {
			s.leave()
		}
	case 2:
		if s.rnd.IntN(4) == 0 { // kfake then tells of cut logs where nothing was cut
			s.cluster.Kfake().ShufflePartitionLeaders()
		}
	case 3:
		s.once(kmsg.OffsetCommit, func(req kmsg.Request) kmsg.Response { return refuseCommit(req, kerr.CoordinatorLoadInProgress) })
	case 4:
		s.once(kmsg.Heartbeat, forget)
		s.once(kmsg.ConsumerGroupHeartbeat, forgetConsumer)
	case 5:
		if len(s.members) > 0 {
			s.members[s.rnd.IntN(len(s.members))].pool.Resize(s.rnd.IntN(5))
		}
	case 6:
		s.once(kmsg.ListOffsets, func(req kmsg.Request) kmsg.Response { return refuseList(req, kerr.OffsetNotAvailable) })
	}
	for _, m := range s.members { // none stays without pollers for ever
		if m.pool.Size() == 0 && s.rnd.IntN(3) == 0 {
			m.pool.Resize(1 + s.rnd.IntN(3))
		}
	}
}

func (s *stress) produce() {
	var recs []*kgo.Record
	for range s.rnd.IntN(60) {
		p := s.rnd.IntN(stressPartitions)
		if s.rnd.IntN(3) == 0 {
			p = 0 // a hot one
		}
		s.sent[p]++
		recs = append(recs, &kgo.Record{Topic: "orders", Partition: int32(p), Value: make([]byte, s.rnd.IntN(2000))})
	}
	s.cluster.Produce(recs...)
}

// answer takes its time, and fails now and then.
func (s *stress) answer(records int) (invoke.Response, error) {
	if s.calm.Load() {
		return invoke.Response{Status: 200}, nil
	}
	s.mu.Lock()
	kind, pause := s.mood.IntN(20), time.Duration(s.mood.IntN(5000))*time.Microsecond
	s.mu.Unlock()
	if kind == 0 {
		pause *= 50
	}
	time.Sleep(pause)
	switch {
	case kind == 1, kind == 2:
		return invoke.Response{}, broken()
	case kind == 3:
		return invoke.Response{}, &invoke.Error{Kind: invoke.Throttled, Status: 429}
	case kind == 4 && records > 1:
		return invoke.Response{}, &invoke.Error{Kind: invoke.TooLarge, Status: 413}
	}
	return invoke.Response{Status: 200}, nil
}

// once answers one request of a kind.
func (s *stress) once(key kmsg.Key, answer func(kmsg.Request) kmsg.Response) {
	s.cluster.Kfake().ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
		return answer(req), nil, true
	})
}

func refuseCommit(req kmsg.Request, with *kerr.Error) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	for _, rt := range req.(*kmsg.OffsetCommitRequest).Topics {
		t := kmsg.NewOffsetCommitResponseTopic()
		t.Topic, t.TopicID = rt.Topic, rt.TopicID
		for _, rp := range rt.Partitions {
			p := kmsg.NewOffsetCommitResponseTopicPartition()
			p.Partition, p.ErrorCode = rp.Partition, with.Code
			t.Partitions = append(t.Partitions, p)
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

// forget has a member lose its session.
func forget(req kmsg.Request) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.HeartbeatResponse)
	resp.ErrorCode = kerr.UnknownMemberID.Code
	return resp
}

// forgetConsumer has a member of the other protocol lose its session, or only its place in it.
func forgetConsumer(req kmsg.Request) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
	resp.ErrorCode = kerr.UnknownMemberID.Code
	if req.(*kmsg.ConsumerGroupHeartbeatRequest).MemberID[0]%2 == 0 {
		resp.ErrorCode = kerr.FencedMemberEpoch.Code
	}
	return resp
}

func refuseList(req kmsg.Request, with *kerr.Error) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
	for _, rt := range req.(*kmsg.ListOffsetsRequest).Topics {
		t := kmsg.NewListOffsetsResponseTopic()
		t.Topic = rt.Topic
		for _, rp := range rt.Partitions {
			p := kmsg.NewListOffsetsResponseTopicPartition()
			p.Partition, p.ErrorCode = rp.Partition, with.Code
			t.Partitions = append(t.Partitions, p)
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

func (s *stress) check() {
	taken := s.fn.taken()
	total, twice := 0, 0
	for p, n := range s.sent {
		total += n
		for o := range n {
			tp := record.TopicPartition{Topic: "orders", Partition: int32(p)}
			k := taken[tp.At(record.Offset(o))]
			if k == 0 {
				s.t.Errorf("%s is lost: committed and never taken", tp.At(record.Offset(o)))
			}
			twice += max(k-1, 0)
		}
	}
	checkOrder(s.t, s.fn.list())
	s.t.Logf("%d records, %d calls, %d taken again", total, len(s.fn.list()), twice)
}
