package service

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/sluicehq/sluice/admin"
	"github.com/sluicehq/sluice/cmd/sluice/memory"
	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/controller"
	"github.com/sluicehq/sluice/internal/lifecycle"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/metric"
)

// Options are what a service needs beside its configuration.
type Options struct {
	Version, Commit string
	Log             *slog.Logger
	// SessionTimeout of the consumer groups; 0 means the client's default. Tests lower it.
	SessionTimeout time.Duration
	// Memory is what the mappings may take; nil gives each the default buffer.
	Memory *memory.Shares
}

// Service is a configuration that runs. It satisfies lifecycle.Part.
type Service struct {
	lifecycle.Unit
	config     *config.Config
	opener     *opener
	server     *admin.Server
	controller *controller.Controller
}

// New returns a service that has not started. Errors are of functions or clusters that cannot be built.
func New(c *config.Config, o Options) (*Service, error) {
	metrics := metric.New()
	metrics.Build(o.Version, o.Commit)
	op, err := newOpener(c, metrics, o)
	if err != nil {
		return nil, err
	}
	ctl := controller.New(c.Mappings, controller.Options{
		Version: o.Version, Opener: op, Metrics: metrics, Buffers: invoke.NewBuffers(o.Memory.EventsKept()),
		DrainTimeout:    c.Server.DrainTimeout,
		FunctionTimeout: func(m *mapping.Mapping) time.Duration { return c.Functions[m.Function].Timeout },
		Log:             o.Log,
	})
	return &Service{
		config: c, opener: op, controller: ctl,
		server: admin.NewServer(c.Server.Listen, admin.New(ctl, metrics.Handler(), o.Log), o.Log),
	}, nil
}

// Start listens and begins to run the mappings.
func (s *Service) Start(ctx context.Context) error {
	return s.Begin(ctx, func(ctx context.Context, run lifecycle.Run) error {
		if err := s.server.Start(ctx); err != nil {
			return err
		}
		if err := s.controller.Start(ctx); err != nil {
			_ = s.server.Stop(ctx)
			return err
		}
		run.Go(func() error {
			<-run.Fetching().Done()
			// The admin API answers while the mappings drain.
			err := s.controller.Stop(run.Working())
			s.opener.close()
			_ = s.server.Stop(run.Working())
			return err
		})
		return nil
	})
}

// Addr is where the admin API listens, after Start.
func (s *Service) Addr() net.Addr { return s.server.Addr() }

// Controller is what runs the mappings.
func (s *Service) Controller() *controller.Controller { return s.controller }
