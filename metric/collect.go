package metric

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// descs are the descriptors of the catalog, by name. Histograms carry their own.
var descs = func() map[string]*prometheus.Desc {
	all := make(map[string]*prometheus.Desc, len(catalog))
	for _, e := range catalog {
		all[e.name] = prometheus.NewDesc(Namespace+"_"+e.name, e.help, append([]string{"mapping"}, e.labels...), nil)
	}
	return all
}()

// collect sends every series of the mapping.
func (m *Mapping) collect(out chan<- prometheus.Metric) {
	for _, e := range catalog {
		desc := descs[e.name]
		switch {
		case e.count != nil:
			out <- constant(desc, prometheus.CounterValue, float64(e.count(m).Value()), m.name)
		case e.level != nil:
			out <- constant(desc, prometheus.GaugeValue, float64(e.level(m).Value()), m.name)
		case e.word != nil:
			if word := e.word(m).Value(); word != "" {
				out <- constant(desc, prometheus.GaugeValue, 1, m.name, word)
			}
		case e.time != nil:
			out <- constant(desc, prometheus.CounterValue, e.time(m).Value().Seconds(), m.name)
		case e.topics != nil:
			for topic, n := range e.topics(m).ByTopic() {
				out <- constant(desc, prometheus.CounterValue, float64(n), m.name, topic)
			}
		case e.errors != nil:
			for kind, n := range e.errors(m).ByKind() {
				out <- constant(desc, prometheus.CounterValue, float64(n), m.name, kind)
			}
		}
	}
	for _, h := range []prometheus.Histogram{m.InvokeDuration.h, m.BatchRecords.h, m.BatchBytes.h, m.CommitLatency.h} {
		out <- h
	}
	m.collectPartitions(out)
}

func (m *Mapping) collectPartitions(out chan<- prometheus.Metric) {
	p := &m.partitions
	p.mu.Lock()
	defer p.mu.Unlock()
	gauge := func(name string, value float64, labels ...string) {
		out <- constant(descs[name], prometheus.GaugeValue, value, append([]string{m.name}, labels...)...)
	}
	if p.known {
		gauge("sum_offset_lag", float64(p.sum))
		gauge("max_offset_lag", float64(p.max))
	}
	for _, l := range p.lag {
		gauge("offset_lag", float64(l.Lag), l.Topic, strconv.Itoa(int(l.Partition)))
	}
	for _, s := range p.stalls {
		gauge("partition_stalled_seconds", s.For.Seconds(), s.Topic, strconv.Itoa(int(s.Partition)))
	}
	gauge("partitions_not_shown", float64(p.hidden), "offset_lag")
	gauge("partitions_not_shown", float64(p.unstated), "partition_stalled_seconds")
}

func constant(desc *prometheus.Desc, t prometheus.ValueType, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, t, value, labels...)
}
