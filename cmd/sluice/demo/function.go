package demo

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

const (
	// failsOneIn is how many of the batches fail at their first attempt: 2 %. Which ones is drawn from the batch's
	// id, so that the same batches fail in the same way.
	failsOneIn = 50
	// workTime is how long the function works on a batch.
	workTime = 10 * time.Millisecond
	// bodyBytesMax is over what Sluice sends.
	bodyBytesMax = 8 << 20
)

// function is the sample function: it adds up orders. It takes Lambda's Kafka event from a POST, as any function behind a
// URL does, and tells the ledger what it sees.
type function struct {
	url    string
	ledger *ledger
	server *http.Server
}

func serveFunction(l *ledger, name string) (*function, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &function{url: fmt.Sprintf("http://%s/%s", listener.Addr(), name), ledger: l}
	f.server = &http.Server{Handler: f, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = f.server.Serve(listener) }() // ends with close
	return f, nil
}

func (f *function) close() { _ = f.server.Close() }

// ServeHTTP is the function's code.
func (f *function) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	var event events.KafkaEvent
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyBytesMax)).Decode(&event); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	runs, poison, err := read(event)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	attempt, _ := strconv.Atoi(r.Header.Get("Sluice-Attempt"))
	f.ledger.begin(began, attempt, runs)
	time.Sleep(workTime)
	transient := attempt <= 1 && drawn(r.Header.Get("Sluice-Batch-Id"))
	f.ledger.end(runs, poison == "" && !transient)
	switch {
	case poison != "":
		fail(w, "PoisonRecord", "order "+poison+" cannot be read")
	case transient:
		fail(w, "Unavailable", "the database is busy; try again")
	default:
		w.WriteHeader(http.StatusOK)
	}
}

func fail(w http.ResponseWriter, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusInternalServerError)
	_ = json.NewEncoder(w).Encode(map[string]string{"errorType": kind, "errorMessage": message}) // the caller has gone away
}

// drawn says whether this batch is among those that fail.
func drawn(batch string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(batch))
	return h.Sum32()%failsOneIn == 0
}

// read takes an event apart, and says which order in it is poison.
func read(event events.KafkaEvent) (runs []run, poison string, err error) {
	for name, records := range event.Records {
		if len(records) == 0 {
			return nil, "", fmt.Errorf("%s has no records", name)
		}
		r := run{partition: int32(records[0].Partition), records: make([]handed, 0, len(records))}
		for i := range records {
			value, err := base64.StdEncoding.DecodeString(records[i].Value)
			if err != nil {
				return nil, "", err
			}
			var o order
			if err := json.Unmarshal(value, &o); err != nil {
				return nil, "", err
			}
			if o.Poison {
				poison = o.ID
			}
			r.records = append(r.records, handed{records[i].Offset, o.Amount})
		}
		runs = append(runs, r)
	}
	return runs, poison, nil
}
