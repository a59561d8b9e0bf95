// Package metric counts what Sluice does, under the names that CloudWatch gives to the metrics of an event source
// mapping, and shows it to Prometheus.
//
// A [Registry] is made once in a process. [Registry.Mapping] returns the handles of one mapping: plain atomic numbers
// that the hot path adds to without looking anything up. All series of a mapping come and go with it: a scrape walks the
// mappings that are there, so a removed mapping or a revoked partition leaves nothing behind.
//
// The table in catalog.go names every metric; docs/METRICS.md is made from it. What the numbers mean for scaling,
// readiness or status is the controller's to say; serving the page is admin's.
package metric

import (
	"cmp"
	"net/http"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Namespace begins the name of every metric of ours.
const Namespace = "sluice"

// scrapesMax bounds the scrapes that are answered at the same time; a further one gets 503.
const scrapesMax = 4

// Registry holds the metrics of one process. Its methods may be called from any goroutine.
type Registry struct {
	prom *prometheus.Registry

	mu       sync.Mutex
	mappings map[string]*Mapping
}

// New returns a registry that already holds the metrics of the Go runtime, of the process and of the build.
func New() *Registry {
	r := &Registry{prom: prometheus.NewRegistry(), mappings: map[string]*Mapping{}}
	r.prom.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
		r.collector(),
	)
	return r
}

// Build adds sluice_build_info with the version and the commit of the binary. It is called once.
func (r *Registry) Build(version, commit string) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: Namespace, Name: "build_info",
		Help:        buildInfoHelp,
		ConstLabels: prometheus.Labels{"version": version, "commit": commit},
	})
	info.Set(1)
	r.prom.MustRegister(info)
}

// Mapping returns the handles of the mapping with this name, the same ones for as long as it is not removed.
func (r *Registry) Mapping(name string) *Mapping {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.mappings[name]
	if m == nil {
		m = newMapping(name)
		r.mappings[name] = m
	}
	return m
}

// Remove takes all series of a mapping out of the registry; its Kafka clients' series go when the clients are closed.
// Handles that somebody still holds go on counting for nobody. Removing a mapping that is not there does nothing.
func (r *Registry) Remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.mappings, name)
}

// Handler serves all metrics in the formats that Prometheus reads.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.prom, promhttp.HandlerOpts{
		Registry: r.prom, MaxRequestsInFlight: scrapesMax, EnableOpenMetrics: true,
	})
}

// Gatherer gives the metrics to tests and to other exporters.
func (r *Registry) Gatherer() prometheus.Gatherer { return r.prom }

// sorted returns the mappings by name, so that a scrape reads the same way each time.
func (r *Registry) sorted() []*Mapping {
	r.mu.Lock()
	defer r.mu.Unlock()
	ms := make([]*Mapping, 0, len(r.mappings))
	for _, m := range r.mappings {
		ms = append(ms, m)
	}
	slices.SortFunc(ms, func(a, b *Mapping) int { return cmp.Compare(a.name, b.name) })
	return ms
}

// collector returns what the Prometheus registry asks at each scrape. It describes nothing in advance, since its
// series depend on the mappings that are there; the registry checks their consistency as they come.
func (r *Registry) collector() prometheus.Collector { return (*collector)(r) }

type collector Registry

// Describe sends nothing: the collector is an unchecked one.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the series of every mapping.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	for _, m := range (*Registry)(c).sorted() {
		m.collect(out)
	}
}
