package conformance

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/ledger"
)

// mortal is a function whose process a record kills: the connection breaks, nobody listens for a while, and then a new
// process does.
type mortal struct {
	address string
	downFor time.Duration
	deaths  atomic.Int64
	dead    chan struct{}
	end     chan struct{}
	ended   chan struct{}
}

func mortalFunction(t *testing.T, downFor time.Duration) *mortal {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &mortal{
		address: l.Addr().String(), downFor: downFor,
		dead: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{}),
	}
	go m.live(l)
	t.Cleanup(func() {
		close(m.end)
		<-m.ended
	})
	return m
}

// live runs one process after the other.
func (m *mortal) live(l net.Listener) {
	defer close(m.ended)
	for {
		server := &http.Server{Handler: http.HandlerFunc(m.die)}
		go func() { _ = server.Serve(l) }()
		select {
		case <-m.dead:
		case <-m.end:
			_ = server.Close()
			return
		}
		_ = server.Close()
		time.Sleep(m.downFor)
		var err error
		for l, err = net.Listen("tcp", m.address); err != nil; l, err = net.Listen("tcp", m.address) {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func (m *mortal) die(http.ResponseWriter, *http.Request) {
	m.deaths.Add(1)
	select {
	case m.dead <- struct{}{}:
	default:
	}
	panic(http.ErrAbortHandler)
}

// The topic holds a single record, which kills the function whenever it gets it. Nothing else tells poison from an outage,
// and between its lives the function is down: the record ends on the dead-letter topic nevertheless.
func TestARecordThatKillsTheFunctionEndsAsADeadLetter(t *testing.T) {
	kills(t, kafkatest.Fake(t, kafkatest.Options{}), 300*time.Millisecond)
}

func kills(t *testing.T, c *kafkatest.Cluster, downFor time.Duration) (*rig, ledger.Report) {
	t.Helper()
	r := newRig(t, c, 1, function.Script{})
	m := mortalFunction(t, downFor)
	r.url = "http://" + m.address + "/"
	r.produce(1, 1)
	p := start(t, r.yaml(fast, quick, "maximumRetryAttempts: 3", r.withDLQ()))
	began := time.Now()
	r.settled(time.Minute)
	took := time.Since(began)
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.letters()
	report := r.judge()
	if report.DeadLettered != 1 || m.deaths.Load() != 4 {
		t.Errorf("%d dead letters after %d deaths, want 1 after 4", report.DeadLettered, m.deaths.Load())
	}
	r.note("the function died %d times, each time for %s; the record was a dead letter after %.1f s", m.deaths.Load(), downFor, took.Seconds())
	return r, report
}
