package lag

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Faults of others: a failed reading was taken for 0, and everything scaled in.
func TestWhatCannotBeReadIsUnknownAndNotZero(t *testing.T) {
	t.Run("a group that may not be read", func(t *testing.T) {
		k := start(t)
		k.topic(t, "orders", 4)
		k.ControlKey(int16(kmsg.OffsetFetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
			resp.ErrorCode = kerr.GroupAuthorizationFailed.Code
			for _, g := range req.(*kmsg.OffsetFetchRequest).Groups {
				rg := kmsg.NewOffsetFetchResponseGroup()
				rg.Group, rg.ErrorCode = g.Group, kerr.GroupAuthorizationFailed.Code
				resp.Groups = append(resp.Groups, rg)
			}
			return resp, nil, true
		})
		got, err := New(k.client).Read(t.Context(), k.ask("orders"))
		if !errors.Is(err, kerr.GroupAuthorizationFailed) || !strings.Contains(err.Error(), string(k.group)) || len(got.Partitions) != 0 {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("a partition whose end cannot be told", func(t *testing.T) {
		k := start(t)
		k.topic(t, "orders", 4)
		k.produce(t, "orders", 0, 5)
		k.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			list := req.(*kmsg.ListOffsetsRequest)
			resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
			for _, rt := range list.Topics {
				t := kmsg.NewListOffsetsResponseTopic()
				t.Topic = rt.Topic
				for _, rp := range rt.Partitions {
					p := kmsg.NewListOffsetsResponseTopicPartition()
					p.Partition, p.Offset = rp.Partition, 0
					if rp.Timestamp == -1 {
						p.Offset = 7
					}
					if rp.Partition == 2 {
						p.ErrorCode, p.Offset = kerr.KafkaStorageError.Code, -1
					}
					t.Partitions = append(t.Partitions, p)
				}
				resp.Topics = append(resp.Topics, t)
			}
			return resp, nil, true
		})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		got, err := New(k.connect(t, kgo.RequestRetries(0))).Read(ctx, k.ask("orders"))
		if err == nil || !strings.Contains(err.Error(), k.name("orders")+"-2: KAFKA_STORAGE_ERROR") || len(got.Partitions) != 3 {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("a cluster that is away", func(t *testing.T) {
		k := start(t)
		k.topic(t, "orders", 4)
		r := New(k.client)
		k.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		got, err := r.Read(ctx, k.ask("orders"))
		if err == nil || len(got.Partitions) != 0 {
			t.Errorf("%+v %v", got, err)
		}
	})
}

// Faults of others: lag was fetched partition by partition. 1 500 partitions, 250 ms for each round trip: under 5 s, in
// requests that do not grow with the partitions, and no other group is touched.
func TestManyPartitionsFewRequests(t *testing.T) {
	k := start(t, kfake.NumBrokers(3))
	k.topic(t, "wide", 1500)
	k.commit(t, "wide", 7, 0)
	client := k.connect(t)
	var requests atomic.Int32
	groups := make(chan string, 100)
	k.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		switch r := req.(type) {
		case *kmsg.ListOffsetsRequest, *kmsg.MetadataRequest:
		case *kmsg.OffsetFetchRequest:
			groups <- r.Group
			for _, g := range r.Groups {
				groups <- g.Group
			}
		case *kmsg.FindCoordinatorRequest:
			groups <- r.CoordinatorKey
			for _, key := range r.CoordinatorKeys {
				groups <- key
			}
		case *kmsg.ApiVersionsRequest:
			return nil, nil, false
		default:
			t.Errorf("unexpected %s", kmsg.NameForKey(req.Key()))
		}
		requests.Add(1)
		k.SleepControl(func() { time.Sleep(250 * time.Millisecond) })
		return nil, nil, false
	})
	began := time.Now()
	got, err := New(client).Read(t.Context(), k.ask("wide"))
	took := time.Since(began)
	if err != nil || len(got.Partitions) != 1500 || got.Partitions[7].Committed != 0 || got.Partitions[8].Committed != None {
		t.Fatalf("%d partitions, %v", len(got.Partitions), err)
	}
	if took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	// Metadata once or twice, the coordinator, the offsets, and the bounds from each of three brokers.
	if n := requests.Load(); n > 12 {
		t.Errorf("%d requests", n)
	}
	close(groups)
	for g := range groups {
		if g != string(k.group) && g != "" {
			t.Errorf("asked about group %q", g)
		}
	}
	t.Logf("%d requests in %s", requests.Load(), took)
}

// A coordinator that died is asked no longer, although metadata go on naming it and it leads no partition, so that nothing
// else tells of its death.
func TestTheLagIsKnownWithoutTheCoordinatorThatDied(t *testing.T) {
	k := start(t, kfake.NumBrokers(3))
	k.topic(t, "orders", 1)
	k.produce(t, "orders", 0, 5)
	for k.CoordinatorFor(string(k.group)) == k.LeaderFor("orders", 0) {
		k.group += "x"
	}
	k.commit(t, "orders", 0, 2)
	dead := k.CoordinatorFor(string(k.group))
	var dying dyingBroker
	r := New(k.connect(t, kgo.Dialer(dying.dial)))
	if _, err := r.Read(t.Context(), k.ask("orders")); err != nil {
		t.Fatal(err)
	}
	dying.die(k.ListenAddrs()[dead])
	for k.CoordinatorFor(string(k.group)) == dead {
		k.RehashCoordinators()
	}
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := r.Read(ctx, k.ask("orders"))
		cancel()
		if err == nil {
			return
		}
		if time.Since(began) > 20*time.Second {
			t.Fatal(err)
		}
	}
}

// dyingBroker refuses connections to one address, once it is dead.
type dyingBroker struct {
	mu      sync.Mutex
	address string
	conns   map[string][]net.Conn
}

func (d *dyingBroker) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if address == d.address {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		if d.conns == nil {
			d.conns = map[string][]net.Conn{}
		}
		d.conns[address] = append(d.conns[address], conn)
	}
	return conn, err
}

func (d *dyingBroker) die(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.address = address
	for _, c := range d.conns[address] {
		_ = c.Close()
	}
}
