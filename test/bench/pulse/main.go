// Command pulse measures latency: it produces records at a steady rate, and is the function that they arrive at, so that
// both ends are on one monotonic clock. A record is created right before it is given to the producer, which sends each
// at once (no linger, acks=all); it has arrived when the body that holds it has been read.
//
// It prints its address on standard output and ends when standard input does. Whoever it is to measure is told
// http://ADDRESS/f as the function.
//
//	GET /ready?topic=T             one record to each partition, answered when all have arrived
//	GET /run?topic=T&rate=R&for=D  a stretch of records, answered with what it came to
//	GET /poison?topic=T            a record to partition 0 that the function will always fail, with others behind it;
//	                               answered when it has failed three times. From then on /run spares the partition
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	brokers := flag.String("brokers", "", "bootstrap servers, parted by commas")
	partitions := flag.Int("partitions", 8, "of each topic")
	size := flag.Int("bytes", 1<<10, "of a value")
	flag.Parse()
	if err := run(strings.Split(*brokers, ","), *partitions, *size); err != nil {
		fmt.Fprintln(os.Stderr, "pulse:", err)
		os.Exit(1)
	}
}

func run(brokers []string, partitions, size int) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p := &producer{client: client, clock: newClock(), partitions: partitions, size: size, poisoned: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /f", p.clock.arrive)
	mux.HandleFunc("GET /ready", answer(p.ready))
	mux.HandleFunc("GET /run", answer(p.stretch))
	mux.HandleFunc("GET /poison", answer(p.poison))
	go func() { _ = http.Serve(listener, mux) }()
	fmt.Println(listener.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// query is what a question asks for.
type query struct {
	topic string
	rate  int
	For   time.Duration
}

// answer writes what a question comes to as JSON.
func answer[T any](f func(query) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, err := parse(r.URL.Query())
		if err == nil {
			var v T
			if v, err = f(q); err == nil {
				_ = json.NewEncoder(w).Encode(v)
				return
			}
		}
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func parse(values url.Values) (q query, err error) {
	q.topic = values.Get("topic")
	if s := values.Get("rate"); s != "" {
		if q.rate, err = strconv.Atoi(s); err != nil || q.rate < 1 {
			return q, fmt.Errorf("rate %q", s)
		}
	}
	if s := values.Get("for"); s != "" {
		q.For, err = time.ParseDuration(s)
	}
	return q, err
}
