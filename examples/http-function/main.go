// Command http-function is a function behind a URL, as Sluice calls it: it takes the Kafka event of AWS Lambda from a POST,
// adds up orders, and names those that it cannot read, so that they alone are tried again and end as dead letters.
//
// GET / shows the sums. See README.md beside this file.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9000", "address")
	flag.Parse()
	if err := serve(*listen); err != nil {
		log.Fatal(err)
	}
}

// serve runs until SIGTERM or Ctrl-C, and then answers what has begun.
func serve(listen string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	sums := &sums{}
	server := &http.Server{Addr: listen, Handler: sums, ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		stopped <- server.Shutdown(last)
	}()
	log.Printf("listening at http://%s/", listen)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	err := <-stopped
	log.Printf("ended with %s", sums)
	return err
}

// order is what the records hold.
type order struct {
	ID     string  `json:"id"`
	Amount float64 `json:"amount"`
}

// sums is the function, and what it has added up.
type sums struct {
	mu      sync.Mutex
	Batches int     `json:"batches"`
	Orders  int     `json:"orders"`
	Amount  float64 `json:"amount"`
}

// ServeHTTP takes events by POST and shows the sums by GET.
func (s *sums) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		fmt.Fprintln(w, s)
		return
	}
	var event events.KafkaEvent
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 8<<20)).Decode(&event); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest) // an error: the whole batch comes again
		return
	}
	response := s.handle(event)
	log.Printf("batch %s, attempt %s: %d records not read; in all %s",
		r.Header.Get("Sluice-Batch-Id"), r.Header.Get("Sluice-Attempt"), len(response.Failures), s)
	_ = json.NewEncoder(w).Encode(response) // if the caller has gone, it asks again
}

// response says which records failed. AWS's words; the mapping asks for it with ReportBatchItemFailures.
type response struct {
	Failures []failure `json:"batchItemFailures"`
}

type failure struct {
	Identifier struct {
		Partition string `json:"partition"`
		Offset    int64  `json:"offset"`
	} `json:"itemIdentifier"`
}

// handle adds up the orders of a batch. Records may come more than once: a real function would remember which
// topic-partition@offset it has seen, beside its sums and in the same transaction.
func (s *sums) handle(event events.KafkaEvent) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Batches++
	failed := response{Failures: []failure{}}
	for partition, records := range event.Records { // partition is orders-0
		for _, r := range records { // in order
			o, err := read(r)
			if err != nil {
				log.Printf("%s@%d: %v", partition, r.Offset, err)
				var f failure
				f.Identifier.Partition, f.Identifier.Offset = partition, r.Offset
				failed.Failures = append(failed.Failures, f)
				continue
			}
			s.Orders++
			s.Amount += o.Amount
		}
	}
	return failed
}

func read(r events.KafkaRecord) (o order, err error) {
	value, err := base64.StdEncoding.DecodeString(r.Value)
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(value, &o)
}

// String is the sums as JSON.
func (s *sums) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
