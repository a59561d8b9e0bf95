// Command inside runs a Sluice configuration as «sluice run» does, and tells what only the process itself knows: a CPU
// profile, the number of goroutines, the heap. With -bare it runs as many bare clients of Kafka in Sluice's place.
//
// Without -until-lag-zero it prints an address on standard output and ends when standard input does.
//
//	GET /memory   goroutines and memory in use, after a collection
//	GET /cpu      seconds of CPU time so far
//	GET /held     records that are fetched and not settled
//	GET /ready    how many seconds after the start all mappings were ready; answered when they are
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	_ "net/http/pprof" // for a look by hand, at the same address
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/service"
	"github.com/sluicehq/sluice/config"
)

func main() {
	var o options
	flag.StringVar(&o.file, "f", "", "configuration")
	flag.StringVar(&o.profile, "cpuprofile", "", "file for a CPU profile")
	flag.BoolVar(&o.untilLagZero, "until-lag-zero", false, "end when everything that was there at start is settled")
	flag.IntVar(&o.bare.clients, "bare", 0, "bare clients to run instead of a configuration")
	flag.StringVar(&o.bare.brokers, "brokers", "", "of the bare clients, parted by commas")
	flag.StringVar(&o.bare.topic, "topic", "", "of the bare clients")
	flag.StringVar(&o.bare.group, "group", "", "of the bare clients; each has a number behind it")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "inside:", err)
		os.Exit(1)
	}
}

type options struct {
	file, profile string
	untilLagZero  bool
	bare          bare
}

// subject is what runs in this process.
type subject interface {
	// ready says whether everything does its work.
	ready() bool
	// held is how many records are fetched and not settled.
	held() int64
	stop(ctx context.Context) error
}

func (o *options) run() error {
	if o.profile != "" {
		out, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer func() { _ = out.Close() }()
		if err := pprof.StartCPUProfile(out); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	began := time.Now()
	s, err := o.start()
	if err != nil {
		return err
	}
	if sluice, ok := s.(running); ok && o.untilLagZero {
		err = sluice.Controller().UntilLagZero(context.Background())
	} else {
		err = answer(s, began)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return s.stop(ctx)
}

func (o *options) start() (subject, error) {
	if o.bare.clients > 0 {
		return &o.bare, o.bare.start()
	}
	c, err := config.Load([]string{o.file}, config.Options{LookupEnv: os.LookupEnv})
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := service.New(c, service.Options{Log: log})
	if err != nil {
		return nil, err
	}
	return running{s}, s.Start(context.Background())
}

// running is Sluice.
type running struct{ *service.Service }

func (r running) ready() bool {
	ok, _ := r.Controller().Ready()
	return ok
}

func (r running) held() int64 {
	var n int64
	for _, m := range r.Controller().Status().Mappings {
		n += m.Buffered.Records
	}
	return n
}

func (r running) stop(ctx context.Context) error { return r.Stop(ctx) }

// answer answers questions until standard input ends.
func answer(s subject, began time.Time) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	http.HandleFunc("GET /memory", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(measure(s))
	})
	http.HandleFunc("GET /cpu", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(cpu())
	})
	http.HandleFunc("GET /held", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(s.held())
	})
	http.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
		for !s.ready() {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
		_ = json.NewEncoder(w).Encode(time.Since(began).Seconds())
	})
	go func() { _ = http.Serve(listener, nil) }()
	fmt.Println(listener.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// cpu is what the process has used, in seconds of user and system time.
func cpu() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// Memory is what the process uses. Bytes are after two collections: the second frees what the first found in pools.
type Memory struct {
	Goroutines int
	HeapBytes  uint64 // of live objects
	StackBytes uint64
}

func measure(s subject) Memory {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	if b, ok := s.(*bare); ok {
		m.HeapAlloc -= b.lists()
	}
	return Memory{Goroutines: runtime.NumGoroutine(), HeapBytes: m.HeapAlloc, StackBytes: m.StackInuse}
}
