// Command noop is the function of the benchmark: it reads each body to its end, answers 200 and counts. It is a plain
// net/http server, so that what calls it is measured against what functions in Go usually are.
//
// It prints its address on standard output and ends when standard input does, so that it never outlives who started it.
// GET /timeline answers what was counted over time.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/test/bench/timeline"
)

const (
	// grain is the time between two samples.
	grain = 10 * time.Millisecond
	// samplesMax bounds the samples: ten minutes.
	samplesMax = 60_000
	// readBytes is how much of a body is read at once: an event of 100 records of 1 KiB takes two reads or three.
	readBytes = 64 << 10
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "noop:", err)
		os.Exit(1)
	}
}

func run() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f := &function{started: time.Now()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /timeline", f.timeline)
	mux.HandleFunc("POST /", f.invoke)
	go func() { _ = http.Serve(listener, mux) }()
	go f.sample()
	fmt.Println(listener.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

type function struct {
	started         time.Time
	requests, bytes atomic.Int64

	mu      sync.Mutex
	samples timeline.Timeline
}

var scratch = sync.Pool{New: func() any { return new([readBytes]byte) }}

func (f *function) invoke(_ http.ResponseWriter, r *http.Request) {
	buf := scratch.Get().(*[readBytes]byte)
	defer scratch.Put(buf)
	var size int64
	for {
		n, err := r.Body.Read(buf[:])
		size += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return // cut off: it does not count
		}
	}
	f.requests.Add(1)
	f.bytes.Add(size)
}

// sample notes the counters again and again.
func (f *function) sample() {
	for range time.Tick(grain) {
		f.mu.Lock()
		if len(f.samples) < samplesMax {
			f.samples = append(f.samples, f.now())
		}
		f.mu.Unlock()
	}
}

func (f *function) now() timeline.Sample {
	return timeline.Sample{At: time.Since(f.started), Requests: f.requests.Load(), Bytes: f.bytes.Load()}
}

// timeline answers the samples; with ?last, only how it stands now.
func (f *function) timeline(w http.ResponseWriter, r *http.Request) {
	var line timeline.Timeline
	if !r.URL.Query().Has("last") {
		f.mu.Lock()
		line = f.samples
		f.mu.Unlock()
	}
	_ = json.NewEncoder(w).Encode(append(line[:len(line):len(line)], f.now()))
}
