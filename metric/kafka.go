package metric

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/plugin/kprom"
)

// KpromHooks returns the hooks that count what one Kafka client does (connections, bytes, buffers) as
// sluice_kafka_…{mapping,client}. The client is named by what it is for ("feed", "lag", "producer", ...); one that
// serves no single mapping has an empty mapping. Hooks belong to one client: ask for new ones for the next. The series
// come with the client and go when it is closed. Of two clients with the same labels at the same time, the newer shows.
//
// The series are per broker, not per topic, so that their number does not grow with what the clients read.
func (r *Registry) KpromHooks(mapping, client string) kgo.Hook {
	return kprom.NewMetrics(Namespace+"_kafka",
		kprom.Registerer(&newest{reg: r.prom}),
		kprom.WithStaticLabel(prometheus.Labels{"mapping": mapping, "client": client}),
		kprom.FetchAndProduceDetail(kprom.UncompressedBytes, kprom.CompressedBytes, kprom.Records, kprom.ConsistentNaming),
		kprom.NativeBucketFactor(1),
	)
}

// newest is a Registerer for kprom, which panics when a collector is there already and, when it closes, takes out
// whatever has its labels: here the newer collector replaces the older, and only the one that is there can go.
type newest struct {
	reg *prometheus.Registry
}

// registering makes «take the old one out, put the new one in» one step for all clients.
var registering sync.Mutex

// Register puts the collector in the place of the one with the same labels, if there is one.
func (n *newest) Register(c prometheus.Collector) error {
	registering.Lock()
	defer registering.Unlock()
	err := n.reg.Register(c)
	if was, ok := err.(prometheus.AlreadyRegisteredError); ok {
		n.reg.Unregister(was.ExistingCollector)
		err = n.reg.Register(c)
	}
	return err
}

// MustRegister registers; what kprom makes can only collide, and collisions are resolved.
func (n *newest) MustRegister(cs ...prometheus.Collector) {
	for _, c := range cs {
		if err := n.Register(c); err != nil {
			panic(err)
		}
	}
}

// Unregister takes the collector out, unless a newer one has its place.
func (n *newest) Unregister(c prometheus.Collector) bool {
	registering.Lock()
	defer registering.Unlock()
	err := n.reg.Register(c)
	was, ok := err.(prometheus.AlreadyRegisteredError)
	if ok && was.ExistingCollector != c {
		return false
	}
	return n.reg.Unregister(c)
}
