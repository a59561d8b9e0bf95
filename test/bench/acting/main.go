// Command acting is a function that behaves: it takes its time, fails a share of its calls, and counts for each mapping by
// itself.
//
// It prints its address on standard output and ends when standard input does. What fails is a third each a 500, a 429, and
// a 200 that names the event's first record as a batch item failure, drawn by lot for each call.
//
//	GET /timeline   what was taken over time
//	GET /counts     how many calls there were of each kind
//	GET /mappings   bytes that each mapping has sent
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/sluicehq/sluice/test/bench/timeline"
)

const (
	// grain is the time between two samples, samplesMax their number: ten minutes.
	grain      = 10 * time.Millisecond
	samplesMax = 60_000
	// seed makes the draws the same in each run; which call meets which draw depends on the order of arrival.
	seed = 1
)

func main() {
	delay := flag.Duration("delay", 0, "time that each call takes")
	share := flag.Float64("fail", 0, "share of the calls that fail, 0 to 1")
	flag.Parse()
	if err := run(*delay, *share); err != nil {
		fmt.Fprintln(os.Stderr, "acting:", err)
		os.Exit(1)
	}
}

func run(delay time.Duration, share float64) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f := &function{
		started: time.Now(), delay: delay, share: share, chance: rand.New(rand.NewPCG(seed, 0)), mappings: map[string]int64{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /timeline", f.timeline)
	mux.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) { f.tell(w, func() any { return f.counts }) })
	mux.HandleFunc("GET /mappings", func(w http.ResponseWriter, _ *http.Request) { f.tell(w, func() any { return f.mappings }) })
	mux.HandleFunc("POST /", f.invoke)
	go func() { _ = http.Serve(listener, mux) }()
	go f.sample()
	fmt.Println(listener.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// Counts are calls by how they were answered.
type Counts struct{ Taken, Failed, Throttled, Partial int64 }

type function struct {
	started time.Time
	delay   time.Duration
	share   float64

	mu       sync.Mutex
	chance   *rand.Rand
	counts   Counts
	bytes    int64            // of bodies that were taken
	mappings map[string]int64 // bytes of bodies by mapping, whatever became of them
	samples  timeline.Timeline
}

var bodies = sync.Pool{New: func() any { return new(body) }}

func (f *function) invoke(w http.ResponseWriter, r *http.Request) {
	b := bodies.Get().(*body)
	defer bodies.Put(b)
	if err := b.read(r.Body); err != nil {
		return // cut off: it does not count
	}
	if f.delay > 0 {
		time.Sleep(f.delay)
	}
	status, answer := f.judge(b, r.Header.Get("Sluice-Mapping"))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer) // who has gone away is not told
}

// judge says how a call is answered, and counts it.
func (f *function) judge(b *body, mapping string) (status int, answer string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mappings[mapping] += b.size
	kind := 0
	if f.share > 0 && f.chance.Float64() < f.share {
		kind = 1 + f.chance.IntN(3)
	}
	switch kind {
	case 1:
		f.counts.Failed++
		return http.StatusInternalServerError, ""
	case 2:
		f.counts.Throttled++
		return http.StatusTooManyRequests, ""
	case 3:
		f.counts.Partial++
		identifier, record, ok := b.first()
		if !ok {
			return http.StatusBadRequest, ""
		}
		f.bytes += b.size - record
		return http.StatusOK, `{"batchItemFailures":[{"itemIdentifier":` + identifier + `}]}`
	}
	f.counts.Taken++
	f.bytes += b.size
	return http.StatusOK, ""
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
	c := &f.counts
	return timeline.Sample{At: time.Since(f.started), Requests: c.Taken + c.Failed + c.Throttled + c.Partial, Bytes: f.bytes}
}

// timeline answers the samples; with ?last, only how it stands now.
func (f *function) timeline(w http.ResponseWriter, r *http.Request) {
	f.tell(w, func() any {
		var line timeline.Timeline
		if !r.URL.Query().Has("last") {
			line = f.samples
		}
		return append(line[:len(line):len(line)], f.now())
	})
}

// tell answers with what is read under the lock.
func (f *function) tell(w http.ResponseWriter, what func() any) {
	f.mu.Lock()
	text, err := json.Marshal(what())
	f.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(text)
}
