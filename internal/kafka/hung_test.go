package kafka

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// silent takes connections and never answers, as a process does that is stopped. It counts them.
func silent(t *testing.T) (address string, connections *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	connections = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return l.Addr().String(), connections
}

// A broker that hangs costs one time-out, and not one for each time that the client happens to choose it.
func TestABrokerThatHangsIsLeftAlone(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	address, connections := silent(t)
	client, err := NewClient(Cluster{Name: "main", BootstrapServers: []string{address, cluster.ListenAddrs()[0]}}, slog.New(slog.DiscardHandler),
		kgo.RequestTimeoutOverhead(1100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, seed := range client.SeedBrokers() { // each is asked, until the silent one has been
		_, _ = seed.Request(ctx, kmsg.NewPtrMetadataRequest())
	}
	before := connections.Load()
	if before == 0 {
		t.Fatal("the silent broker was not asked")
	}
	began := time.Now()
	for _, seed := range client.SeedBrokers() {
		_, _ = seed.Request(ctx, kmsg.NewPtrMetadataRequest())
	}
	if took := time.Since(began); took < hungFor/2 && connections.Load() != before {
		t.Errorf("it was connected to again after %s", took)
	}
}

// A read that is interrupted says nothing of the broker; one that was not answered in time does.
func TestAnInterruptedReadAccusesNobody(t *testing.T) {
	address, _ := silent(t)
	h := newHung(new(net.Dialer).DialContext)
	read := func(deadline time.Duration) {
		conn, err := h.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		_ = conn.SetReadDeadline(time.Now().Add(deadline))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	read(0)
	read(1100 * time.Millisecond) // it may still be connected to
	var dial *net.OpError
	if _, err := h.DialContext(t.Context(), "tcp", address); !errors.As(err, &dial) || dial.Op != "dial" || !errors.Is(err, errHung) {
		t.Errorf("connecting to a broker that hangs: %v", err)
	}
}
