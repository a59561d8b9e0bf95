package conformance

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

// load is a producer that goes on beside the test.
type load struct {
	r    *rig
	stop context.CancelFunc
	wg   sync.WaitGroup
	mu   sync.Mutex
	err  error
}

// loadTick is how often a load writes.
const loadTick = 20 * time.Millisecond

// load writes about so many records a second to the topic, in turn over its partitions, until end. It does not pass the
// cluster's Links.
func (r *rig) load(perSecond int) *load {
	r.t.Helper()
	client := r.cluster.Client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(100*time.Millisecond),
		kgo.ProduceRequestTimeout(2*time.Second), kgo.RequestTimeoutOverhead(time.Second)) // it is not the one that is tried
	ctx, cancel := context.WithCancel(r.t.Context())
	l := &load{r: r, stop: cancel}
	l.wg.Go(func() {
		tick := time.NewTicker(loadTick)
		defer tick.Stop()
		began, n := time.Now(), 0
		for ctx.Err() == nil {
			for due := int(time.Since(began).Seconds() * float64(perSecond)); n < due; n++ {
				l.write(client, n)
			}
			<-tick.C
		}
		l.failed(client.Flush(context.WithoutCancel(ctx)))
	})
	r.t.Cleanup(func() { l.stop(); l.wg.Wait() })
	return l
}

func (l *load) write(client *kgo.Client, n int) {
	rec := &kgo.Record{
		Topic: l.r.topic, Partition: int32(n) % l.r.partitions,
		Key: []byte(strconv.Itoa(n)), Value: fmt.Appendf(nil, `{"order":%d,"from":"load"}`, n),
	}
	client.Produce(context.Background(), rec, func(rec *kgo.Record, err error) {
		if err == nil {
			l.r.ledger.Record(rec)
		}
		l.failed(err)
	})
}

func (l *load) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

// end stops the producer when all that it has written is in Kafka.
func (l *load) end() {
	l.r.t.Helper()
	l.stop()
	l.wg.Wait()
	if l.err != nil {
		l.r.t.Errorf("the producer failed: %v", l.err)
	}
}

// freshMin is how many records of a partition that were produced after a moment show that it is read again.
const freshMin = 5

// fresh returns a check that of every partition something was taken that was produced after this call, and with it all
// that came before. It needs a load. The check names those that lag behind.
func (r *rig) fresh() func() (behind []string) {
	_, before := r.ledger.Progress()
	return func() (behind []string) {
		_, now := r.ledger.Progress()
		for p := range r.partitions {
			tp := record.TopicPartition{Topic: r.topic, Partition: p}
			if missing := before[tp].Produced + freshMin - now[tp].Taken; missing > 0 {
				behind = append(behind, fmt.Sprintf("partition %d by %d", p, missing))
			}
		}
		return behind
	}
}

// flowing waits until every partition is read to what comes now, and says how long that took.
func (r *rig) flowing(what string, within time.Duration) time.Duration {
	r.t.Helper()
	began, fresh := time.Now(), r.fresh()
	for {
		behind := fresh()
		took := time.Since(began)
		switch {
		case len(behind) == 0:
			return took
		case took > within:
			r.t.Fatalf("%s after %s: behind are %v", what, within, behind)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// moving waits until something of every partition is taken, and says how long that took.
func (r *rig) moving(what string, within time.Duration) time.Duration {
	r.t.Helper()
	_, before := r.ledger.Progress()
	began := time.Now()
	for {
		var still []int32
		_, now := r.ledger.Progress()
		for p := range r.partitions {
			tp := record.TopicPartition{Topic: r.topic, Partition: p}
			if now[tp].Taken == before[tp].Taken {
				still = append(still, p)
			}
		}
		took := time.Since(began)
		switch {
		case len(still) == 0:
			return took
		case took > within:
			r.t.Fatalf("%s, after %s nothing was taken of partitions %v", what, within, still)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
