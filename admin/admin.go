// Package admin answers questions about a running service over HTTP: status, explain, decisions, readiness, metrics.
//
// It only reads. What the answers say is the controller's word, asked for through [Source]; what they look like stands in
// openapi.json, and the tests hold one against the other. Until access keys come, [Server] listens on loopback alone, and
// every request is checked for having been sent by something on this machine that is not a web page (guard.go). Package
// client asks these questions from the command line, package render prints the answers.
package admin

import (
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"github.com/sluicehq/sluice/controller"
	"github.com/sluicehq/sluice/record"
)

// The paths that are served.
const (
	StatusPath    = "/sluice/v1/status"
	ExplainPath   = "/sluice/v1/explain"
	DecisionsPath = "/sluice/v1/decisions"
	OpenAPIPath   = "/sluice/v1/openapi.json"
	MetricsPath   = "/metrics"
	HealthPath    = "/healthz"
	ReadyPath     = "/readyz"
)

// Source is whom admin asks. Its methods are called by many goroutines at once and answer from what they know: they do
// not ask the cluster. Mappings go by name or by UUID. Errors that wrap controller.ErrNotFound say that the mapping, or
// the partition, is not there; others are faults of ours.
type Source interface {
	// Status is the service at this moment.
	Status() controller.Status
	// Explain says what a mapping waits for: in all its partitions, or if partition is not nil in that one. A
	// partition with an empty topic means this number in every topic of the mapping.
	Explain(mapping string, partition *record.TopicPartition) (controller.Explanation, error)
	// Decisions are the last scaling decisions of a mapping, the newest first; their number is bounded.
	Decisions(mapping string) ([]controller.Decision, error)
	// Ready says whether every enabled mapping does its work, and if not, of each that does not, its name and why.
	Ready() (ok bool, reasons []string)
}

//go:embed openapi.json
var openAPI []byte

// requestsMax bounds the requests that are answered at the same time; a further one gets 503.
const requestsMax = 32

// New returns the handler of all paths. Metrics serves MetricsPath.
func New(source Source, metrics http.Handler, log *slog.Logger) http.Handler {
	a := &answers{source: source, log: log}
	mux := http.NewServeMux()
	mux.HandleFunc(StatusPath, a.status)
	mux.HandleFunc(ExplainPath, a.explain)
	mux.HandleFunc(DecisionsPath, a.decisions)
	mux.HandleFunc(OpenAPIPath, a.openAPI)
	mux.HandleFunc(HealthPath, a.health)
	mux.HandleFunc(ReadyPath, a.ready)
	mux.Handle(MetricsPath, metrics)
	mux.HandleFunc("/", a.index)
	return guard(atMost(requestsMax, mux))
}

// answers holds the handlers.
type answers struct {
	source Source
	log    *slog.Logger
}

func (a *answers) status(w http.ResponseWriter, r *http.Request) {
	if _, ok := query(w, r); ok {
		write(w, http.StatusOK, a.source.Status())
	}
}

func (a *answers) explain(w http.ResponseWriter, r *http.Request) {
	q, ok := query(w, r, "mapping", "partition")
	if !ok {
		return
	}
	var partition *record.TopicPartition
	if q.Has("partition") {
		tp, err := ParsePartition(q.Get("partition"))
		if err != nil {
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		partition = &tp
	}
	explanation, err := a.source.Explain(q.Get("mapping"), partition)
	a.answer(w, explanation, err)
}

// Decisions is the answer of DecisionsPath.
type Decisions struct {
	// Mapping is what was asked for, Decisions the newest first.
	Mapping   string                `json:"mapping"`
	Decisions []controller.Decision `json:"decisions"`
}

func (a *answers) decisions(w http.ResponseWriter, r *http.Request) {
	q, ok := query(w, r, "mapping")
	if !ok {
		return
	}
	decisions, err := a.source.Decisions(q.Get("mapping"))
	if decisions == nil {
		decisions = []controller.Decision{} // an empty list, not null
	}
	a.answer(w, Decisions{Mapping: q.Get("mapping"), Decisions: decisions}, err)
}

// answer writes what the source said.
func (a *answers) answer(w http.ResponseWriter, v any, err error) {
	switch {
	case err == nil:
		write(w, http.StatusOK, v)
	case errors.Is(err, controller.ErrNotFound):
		writeError(w, http.StatusNotFound, err.Error())
	default:
		a.log.Error("admin request failed", "error", err)
		writeError(w, http.StatusInternalServerError, err.Error())
	}
}

// Health is the answer of HealthPath.
type Health struct {
	// Alive is always true: whoever is not does not answer.
	Alive bool `json:"alive"`
}

func (a *answers) health(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, Health{Alive: true})
}

// Readiness is the answer of ReadyPath, with 200 if ready and else 503.
type Readiness struct {
	Ready bool `json:"ready"`
	// Reasons names each mapping that is not ready, and why.
	Reasons []string `json:"reasons,omitempty"`
}

func (a *answers) ready(w http.ResponseWriter, _ *http.Request) {
	ok, reasons := a.source.Ready()
	code := http.StatusOK
	if !ok {
		code = http.StatusServiceUnavailable
	}
	write(w, code, Readiness{Ready: ok, Reasons: reasons})
}

func (a *answers) openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPI) // the client has gone away: nobody to tell
}

// index says what there is; the console takes its place later.
func (a *answers) index(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		writeError(w, http.StatusNotFound, fmt.Sprintf("no such path: %s", r.URL.Path))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "sluice %s\n\n", a.source.Status().Version)
	for _, line := range [][2]string{
		{StatusPath, "mappings with state, pollers, lag, rates, failures"},
		{ExplainPath + "?mapping=M[&partition=P]", "why a mapping is not moving"},
		{DecisionsPath + "?mapping=M", "its last scaling decisions, with their reasons"},
		{OpenAPIPath, "the shapes of these answers"},
		{MetricsPath, "for Prometheus"},
		{HealthPath, "alive"},
		{ReadyPath, "every enabled mapping does its work, or which does not"},
	} {
		fmt.Fprintf(w, "%-44s %s\n", line[0], line[1])
	}
}

// query reads the parameters: those named are allowed, each once, and the first of them is required. It writes the error
// itself and answers false if something is wrong with them.
func query(w http.ResponseWriter, r *http.Request, names ...string) (url.Values, bool) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		writeError(w, http.StatusBadRequest, "query: "+err.Error())
		return nil, false
	}
	for name, values := range q {
		switch {
		case !slices.Contains(names, name):
			writeError(w, http.StatusBadRequest, fmt.Sprintf("no parameter %q here; allowed: %s", name, list(names)))
			return nil, false
		case len(values) > 1:
			writeError(w, http.StatusBadRequest, fmt.Sprintf("parameter %s is given %d times; once is allowed", name, len(values)))
			return nil, false
		}
	}
	if len(names) > 0 && q.Get(names[0]) == "" {
		writeError(w, http.StatusBadRequest, fmt.Sprintf("parameter %s is missing", names[0]))
		return nil, false
	}
	return q, true
}
