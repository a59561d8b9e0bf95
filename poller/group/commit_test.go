package group_test

import (
	"bytes"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// slowCommits has the broker take up to most for each commit.
func slowCommits(c *kafkatest.Cluster, most time.Duration) {
	k := c.Kfake()
	k.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		k.SleepControl(func() { time.Sleep(rand.N(most)) })
		return nil, nil, false
	})
}

// Commits of every record, each up to 20 ms on its way, arrive in order: who reads them every 10 ms never sees one go
// back, and two owners in turn do not either.
func TestDelayedCommitsNeverGoBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const partitions, records = 2, 1500
		c := kafkatest.Fake(t, kafkatest.Options{Virtual: true})
		c.CreateTopic("orders", partitions, nil)
		slowCommits(c, 20*time.Millisecond)
		own := options{config: func(g *group.Config) {
			g.CommitInterval, g.Limits.BatchRecords = time.Millisecond, 1
		}}
		fn := target(fine)
		first := join(t, c, "m", []string{"orders"}, fn, own)
		producer := c.Client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
		producing := make(chan struct{})
		go func() {
			defer close(producing)
			for i := range records {
				producer.Produce(t.Context(), &kgo.Record{Topic: "orders", Partition: int32(i % partitions)}, nil)
				time.Sleep(2 * time.Millisecond)
			}
		}()

		var second *member
		seen, reads, moves := map[record.TopicPartition]record.Offset{}, 0, 0
		look := func() (sum record.Offset) {
			reads++
			for tp, at := range c.Committed("g-m") {
				if at < seen[tp] {
					t.Fatalf("the committed offset of %s went from %d back to %d", tp, seen[tp], at)
				}
				if at > seen[tp] {
					moves++
				}
				seen[tp] = at
				sum += at
			}
			return sum
		}
		for deadline := time.Now().Add(time.Minute); look() < records; time.Sleep(10 * time.Millisecond) {
			if second == nil && look() > records/2 {
				second = join(t, c, "m", []string{"orders"}, fn, own)
			}
			if time.Now().After(deadline) {
				t.Fatalf("committed is only %v", seen)
			}
		}
		<-producing
		t.Logf("%d records, read %d times, %d of them had moved", records, reads, moves)
		if moves < 100 {
			t.Errorf("commits were seen to move %d times only", moves)
		}
		first.stop()
		second.stop()
	})
}

// The answers to commits, and with them everything else that is asked on their connection, are held back for 40 s.
// Meanwhile records are handed out, the trouble shows, and afterwards all is committed without help.
func TestCommitsThatAreNotAnsweredDelayNothingForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hold, records = 40 * time.Second, 4000
		c := kafkatest.Fake(t, kafkatest.Options{Virtual: true})
		c.CreateTopic("orders", 2, nil)
		until := time.Now().Add(5*time.Second + hold)
		k := c.Kfake()
		fn := target(fine)
		m := join(t, c, "m", []string{"orders"}, fn, options{config: func(g *group.Config) { g.CommitInterval = time.Second }})
		producer := c.Client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
		go func() {
			for i := range records {
				producer.Produce(t.Context(), &kgo.Record{Topic: "orders", Partition: int32(i % 2)}, nil)
				time.Sleep(20 * time.Millisecond)
			}
		}()
		time.Sleep(5 * time.Second)
		k.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			if time.Now().Before(until) {
				k.SleepControl(func() { time.Sleep(time.Until(until)) })
			}
			return nil, nil, false
		})
		began := len(fn.taken())
		time.Sleep(hold - 5*time.Second)
		if n := len(fn.taken()) - began; n < 1000 {
			t.Errorf("while commits were not answered, %d records were taken", n)
		}
		if _, err := m.feed.Problem(); err == nil {
			t.Error("the trouble does not show")
		} else {
			t.Log(err)
		}
		time.Sleep(time.Until(until))
		healed := time.Now()
		var lag int
		for {
			lag = 0
			for tp, end := range c.EndOffsets("orders") {
				lag += int(end - c.Committed("g-m")[tp])
			}
			if lag < 200 { // 50 a second come, and a commit is made once a second
				break
			}
			if time.Since(healed) > 15*time.Second {
				t.Fatalf("15 s after answers came again, %d records are not committed", lag)
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Logf("commits had caught up %s after the answers came again", time.Since(healed))
		for len(fn.taken()) < records {
			time.Sleep(time.Second)
		}
		m.stop()
	})
}

// What is logged and counted of a commit that fails says whose it was, and why.
func TestAFailedCommitSaysWhatFailed(t *testing.T) {
	c := kafkatest.Fake(t, kafkatest.Options{})
	c.CreateTopic("orders", 1, nil)
	produce(c, "orders", 1, 5)
	var refused atomic.Bool
	refused.Store(true)
	k := c.Kfake()
	k.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		commit := req.(*kmsg.OffsetCommitRequest)
		if !refused.Load() || len(commit.Topics) == 0 || commit.Topics[0].Partitions[0].Offset != 5 {
			return nil, nil, false
		}
		return refuseCommit(req, kerr.OffsetMetadataTooLarge), nil, true
	})
	var lines lockedBuffer
	m := join(t, c, "m", []string{"orders"}, target(fine), options{config: func(g *group.Config) {
		g.Log = slog.New(slog.NewTextHandler(&lines, nil)).With("mapping", g.Mapping) // as the service does
	}})
	until(t, "the failure shows", func() bool {
		_, err := m.feed.Problem()
		return errors.Is(err, kerr.OffsetMetadataTooLarge)
	})
	var line string
	until(t, "it is logged", func() bool {
		for l := range strings.Lines(lines.String()) {
			if strings.Contains(l, "commit failed") {
				line = l
			}
		}
		return line != ""
	})
	for _, want := range []string{"mapping=m", "group=g-m", "topic=orders", "partition=0", "offset=5", "OFFSET_METADATA_TOO_LARGE"} {
		if !strings.Contains(line, want) {
			t.Errorf("the log does not say %s: %s", want, line)
		}
	}
	if n := m.metrics.CommitErrors.ByKind()["OFFSET_METADATA_TOO_LARGE"]; n == 0 {
		t.Errorf("the metric counts %v", m.metrics.CommitErrors.ByKind())
	}
	refused.Store(false)
	until(t, "it is committed", func() bool { return len(c.Lag("g-m", "orders")) == 0 })
	m.stop()
}

// lockedBuffer is written by a feed's log and read by the test.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends.
func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
