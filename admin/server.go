package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/sluicehq/sluice/internal/lifecycle"
)

// What a connection may cost.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = time.Minute
	idleTimeout       = 2 * time.Minute
	headerBytesMax    = 32 << 10
)

// Server serves a handler on a loopback address. It is a lifecycle.Part: after Start it listens; Stop lets requests under
// way end.
type Server struct {
	lifecycle.Unit
	address string
	handler http.Handler
	log     *slog.Logger
	bound   net.Addr // written by Start before it returns
}

// NewServer returns a server for host:port. Port 0 picks a free one; see Addr.
func NewServer(address string, handler http.Handler, log *slog.Logger) *Server {
	return &Server{address: address, handler: handler, log: log}
}

// Start listens. It refuses an address that others can reach, and one that is taken.
func (s *Server) Start(ctx context.Context) error { return s.Begin(ctx, s.serve) }

// Addr is where it listens; nil before Start has returned.
func (s *Server) Addr() net.Addr { return s.bound }

func (s *Server) serve(ctx context.Context, run lifecycle.Run) error {
	if !isLoopback(hostname(s.address)) {
		return fmt.Errorf("server.listen: %q: only loopback addresses are served without access keys "+
			"(127.0.0.1:8440, localhost:8440, [::1]:8440)", s.address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.address)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("server.listen: %w; if another sluice runs there, set server.listen to another port", err)
		}
		return fmt.Errorf("server.listen: %w", err)
	}
	s.bound = listener.Addr()
	server := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytesMax,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	run.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("admin server: %w", err)
		}
		return nil
	})
	run.Go(func() error {
		<-run.Fetching().Done()
		if server.Shutdown(run.Working()) != nil {
			_ = server.Close() // the deadline has passed; nothing is left to save
		}
		return nil
	})
	return nil
}
