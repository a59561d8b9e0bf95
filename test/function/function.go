// Package function is a scripted HTTP function: it takes Lambda's Kafka event by POST, remembers every attempt, tells a
// ledger, and answers as its script says: at once or late, with an error, a throttle, a partial failure, a body that
// drips or never ends, or not at all.
//
// It runs in a test's process, where it survives whatever the test does to Sluice, or as a process of its own
// (cmd/scripted-function). It judges nothing; package ledger does.
package function

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/test/ledger"
)

// Config says what a function starts with.
type Config struct {
	Script Script
	// Ledger is told of every delivery; may be nil.
	Ledger *ledger.Ledger
	// Log gets two JSON lines for every attempt, one when it begins and one when it ends; may be nil. See Replay.
	Log io.Writer
	// Listen is the address of Start; 127.0.0.1 with any port when empty.
	Listen string
}

// Function is an http.Handler that plays a script. Its methods may be called from any goroutine.
type Function struct {
	ledger *ledger.Ledger
	log    *attemptLog
	memory memory
	play   atomic.Pointer[play]

	closing chan struct{}
	once    sync.Once
	server  *http.Server // nil unless started
	address string
}

// New makes a function that does not listen: it is a handler for a server of the caller's.
func New(config Config) *Function {
	f := &Function{ledger: config.Ledger, closing: make(chan struct{})}
	if f.ledger == nil {
		f.ledger = ledger.New(ledger.None)
	}
	if config.Log != nil {
		f.log = &attemptLog{w: config.Log}
	}
	f.SetScript(config.Script)
	return f
}

// Start makes a function that listens on loopback until Close.
func Start(config Config) (*Function, error) {
	f := New(config)
	if config.Listen == "" {
		config.Listen = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", config.Listen)
	if err != nil {
		return nil, err
	}
	f.address = listener.Addr().String()
	f.server = &http.Server{Handler: f, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = f.server.Serve(listener) }() // ends with Close
	return f, nil
}

// URL is where a started function is called.
func (f *Function) URL() string { return "http://" + f.address + "/" }

// Close ends what hangs, closes every connection and stops listening.
func (f *Function) Close() error {
	f.once.Do(func() { close(f.closing) })
	if f.server == nil {
		return nil
	}
	return f.server.Close()
}

// SetScript plays another script from the next request on.
func (f *Function) SetScript(s Script) { f.play.Store(newPlay(s)) }

// Attempts are the ones remembered (the last 20 000 at most), by arrival.
func (f *Function) Attempts() []Attempt {
	attempts, _ := f.memory.snapshot()
	return attempts
}

// Totals count over everything since the start.
func (f *Function) Totals() Totals {
	_, totals := f.memory.snapshot()
	return totals
}

// ServeHTTP is one attempt.
func (f *Function) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	play := f.play.Load()
	attempt, e, err := receive(w, r, play.script.BodyMax)
	f.memory.begin(attempt)
	if err != nil {
		f.refuse(w, attempt, err)
		return
	}
	delivery := f.ledger.Begin(attempt.Begin, attempt.Runs)
	f.log.begin(*attempt)
	rule, delay := play.decide(e, attempt.Attempt)
	a := &answer{f: f, attempt: attempt, delivery: delivery, rule: rule, event: e, w: w, r: r}
	if a.wait(delay) {
		a.give()
	}
}

// receive reads a request.
func receive(w http.ResponseWriter, r *http.Request, bodyMax int64) (*Attempt, event, error) {
	number, _ := strconv.Atoi(r.Header.Get("Sluice-Attempt"))
	a := &Attempt{
		Begin:   time.Now(),
		Mapping: r.Header.Get("Sluice-Mapping"),
		BatchID: r.Header.Get("Sluice-Batch-Id"),
		Attempt: number,
	}
	if r.Method != http.MethodPost {
		return a, event{}, fmt.Errorf("method %s, want POST", r.Method)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
	if err != nil {
		return a, event{}, err
	}
	sum := sha256.Sum256(body)
	a.BodyBytes, a.BodyHash = len(body), hex.EncodeToString(sum[:8])
	e, err := decode(body)
	if err == nil {
		a.Runs = e.runs()
	}
	return a, e, err
}

// refuse answers an event that the function could not read. The ledger does not hear of it.
func (f *Function) refuse(w http.ResponseWriter, a *Attempt, err error) {
	status := http.StatusBadRequest
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		status = http.StatusRequestEntityTooLarge
	}
	f.memory.end(a, func(a *Attempt) {
		a.End, a.Status, a.Err = time.Now(), status, err.Error()
	})
	f.log.refused(*a)
	http.Error(w, err.Error(), status)
}
