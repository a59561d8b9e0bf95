package admin

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/internal/lifecycle/lifecycletest"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestServerServes(t *testing.T) {
	s := NewServer("127.0.0.1:0", handler(&fake{}), quiet())
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	response, err := http.Get("http://" + s.Addr().String() + "/sluice/v1/status")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if response.StatusCode != 200 || !strings.Contains(string(body), `"orders"`) {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", s.Addr().String()); err == nil {
		t.Error("it listens after Stop")
	}
}

func TestServerRefusesWhatOthersCanReach(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.168.0.7:0", "example.org:80", "", "127.0.0.1"} {
		s := NewServer(address, handler(&fake{}), quiet())
		if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "server.listen") {
			t.Errorf("%q: %v", address, err)
			_ = s.Stop(t.Context())
		}
	}
}

func TestServerSaysThatItsAddressIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	err = NewServer(l.Addr().String(), handler(&fake{}), quiet()).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "server.listen: listen tcp "+l.Addr().String()) {
		t.Error(err)
	}
}

func TestStopLetsRequestsEndUntilItsDeadline(t *testing.T) {
	f := &fake{block: make(chan struct{}), blocked: make(chan struct{})}
	s := NewServer("127.0.0.1:0", handler(f), quiet())
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error)
	go func() {
		response, err := http.Get("http://" + s.Addr().String() + "/sluice/v1/status")
		if err == nil {
			_ = response.Body.Close()
		}
		answered <- err
	}()
	<-f.blocked
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Stop(ctx); err == nil {
		t.Error("Stop does not say that it cut a request off")
	}
	if err := <-answered; err == nil {
		t.Error("the request was answered though it was cut off")
	}
	close(f.block)
}

func TestServerKeepsTheLifecycle(t *testing.T) {
	lifecycletest.Stress(t, func() lifecycle.Part { return NewServer("127.0.0.1:0", handler(&fake{}), quiet()) })
}
