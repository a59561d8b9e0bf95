package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/service"
	"github.com/sluicehq/sluice/config"
)

// Options say how the demo runs.
type Options struct {
	// Records is how many are produced for each mapping, at least 1.
	Records int
	// Keep leaves everything running after the summary, with a slow producer, until the context ends.
	Keep bool
	// Listen is the address of the admin API; empty takes the usual one, or a free one where that is taken.
	Listen string
	// Out gets everything that is shown. Terminal draws bars on it, which needs a terminal; else there are lines.
	Out      io.Writer
	Terminal bool

	// Version and Commit are what the service says of itself.
	Version, Commit string
	// Log gets the log of the service and of the demo.
	Log *slog.Logger
}

// The reasons not to end well. Both have been told on Out in full.
var (
	ErrInterrupted = errors.New("interrupted before everything was settled")
	ErrUnproven    = errors.New("the demo did not prove what it should; see the summary")
)

const (
	// standstillMax is how long nothing may be settled before the demo gives up.
	standstillMax = time.Minute
	// drainMax bounds the end of the service.
	drainMax = 10 * time.Second
)

// Run runs the demo and returns nil if every record is settled, order held and the poison record is a dead letter. When
// ctx ends, everything stops in order; before the end of the records that is ErrInterrupted.
func Run(ctx context.Context, o Options) error {
	scenes, err := openScenes(o.Records)
	if err != nil {
		return err
	}
	defer closeScenes(scenes)
	kafka, err := openCluster(ctx, o.Log, scenes)
	if err != nil {
		return fmt.Errorf("start the embedded Kafka: %w", err)
	}
	defer kafka.close()
	d := &demo{Options: o, scenes: scenes, kafka: kafka}
	if err := d.open(ctx); err != nil {
		return err
	}
	return d.run(ctx)
}

// demo is one run.
type demo struct {
	Options
	scenes  []*scene
	kafka   *cluster
	service *service.Service
	took    time.Duration // for all records; 0 where more came later
}

// open starts the service.
func (d *demo) open(ctx context.Context) error {
	c, err := configure(d.listen(), d.kafka, d.scenes)
	if err != nil {
		return err
	}
	d.service, err = service.New(c, service.Options{Version: d.Version, Commit: d.Commit, Log: d.Log})
	if err != nil {
		return err
	}
	if err := d.service.Start(ctx); err != nil {
		return err
	}
	d.introduce()
	return nil
}

// listen is the address that the service gets.
func (d *demo) listen() string {
	if d.Listen != "" {
		return d.Listen
	}
	probe, err := net.Listen("tcp", config.DefaultListen)
	if err != nil {
		return "127.0.0.1:0"
	}
	_ = probe.Close()
	return config.DefaultListen
}

// run plays the scenes to their end, shows what came of it, and stops everything.
func (d *demo) run(ctx context.Context) error {
	producing, stopProducing := context.WithCancel(ctx)
	defer stopProducing()
	hands := startHands(producing, d.kafka, d.scenes)
	began := time.Now()
	err := d.play(ctx, hands)
	d.took = time.Since(began)
	if err == nil && d.Keep {
		err = d.keep(ctx, hands)
	}
	stopProducing()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainMax)
	defer cancel()
	err = errors.Join(err, d.service.Stop(stop))
	if err == nil {
		err = d.summarize(stop)
	} else {
		d.tally(stop, false)
	}
	return errors.Join(err, hands.stop())
}

// keep leaves everything running until ctx ends, with slow producers, and lets what is on its way settle.
func (d *demo) keep(ctx context.Context, hands *hands) error {
	if err := d.summarize(ctx); err != nil {
		return err
	}
	d.took = 0
	hands.trickle()
	fmt.Fprintf(d.Out, "\nRunning on, with %d records a second. Ctrl-C ends it.\n", tricklePerSecond)
	select {
	case <-ctx.Done():
	case <-hands.failed:
		return nil // the error comes with the hands
	}
	hands.producers.Wait()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainMax)
	defer cancel()
	return d.await(drain, hands)
}

// play waits until everything is settled, and shows how it goes.
func (d *demo) play(ctx context.Context, hands *hands) error {
	watched, stop := context.WithCancel(ctx)
	defer stop()
	shown := make(chan struct{})
	go func() {
		d.show(watched)
		close(shown)
	}()
	defer func() { stop(); <-shown }()
	return d.await(ctx, hands)
}

// await waits until everything is settled, or until ctx or the hands' luck ends.
func (d *demo) await(ctx context.Context, hands *hands) error {
	moved, last := time.Now(), int64(-1)
	for !finished(d.scenes) {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-hands.failed:
			return nil // the error comes with the hands
		case <-ctx.Done():
			return ErrInterrupted
		}
		if n := settled(d.scenes); n != last {
			moved, last = time.Now(), n
		} else if time.Since(moved) > standstillMax {
			return fmt.Errorf("nothing was settled for %s", standstillMax)
		}
	}
	return nil
}

// introduce says what is where.
func (d *demo) introduce() {
	fmt.Fprintf(d.Out, "Kafka       %s, embedded (kfake), in memory\n", d.kafka.address())
	for _, s := range d.scenes {
		fmt.Fprintf(d.Out, "%-11s %s mode: topic %s, %d partitions -> %s, dead letters to %s\n",
			s.Name, s.Mode, s.Topic(), s.partitions, s.URL(), s.DeadLetterTopic())
	}
	url := "http://" + d.service.Addr().String()
	fmt.Fprintf(d.Out, "admin API   %s (status, explain, decisions, metrics)\n", url)
	endpoint := ""
	if d.service.Addr().String() != config.DefaultListen {
		endpoint = " --endpoint-url " + url
	}
	fmt.Fprintf(d.Out, "            in another terminal: sluice status --watch --why%s\n\n", endpoint)
}
