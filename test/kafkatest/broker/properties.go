package broker

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// node is one broker, which is a controller too.
type node struct {
	id         int
	ports      map[Listener]int
	controller int // port
	proxy      int // port where Proxied is advertised
	dir        string
}

// advertised is the port of a listener that clients are told; 0 if it is not open.
func (n node) advertised(l Listener) int {
	if l == Proxied && n.ports[l] != 0 {
		return n.proxy
	}
	return n.ports[l]
}

// properties is the content of a node's server.properties: what the cluster needs, what makes tests quick, what the
// test asked for; the later wins.
func properties(c Config, n node, all []node) string {
	p := base(n, all)
	maps.Copy(p, replication(len(all)))
	maps.Copy(p, quick)
	maps.Copy(p, listenerProperties(c, n))
	maps.Copy(p, c.Properties)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s=%s\n", name, p[name])
	}
	return b.String()
}

func base(n node, all []node) map[string]string {
	voters := make([]string, len(all))
	for i, v := range all {
		voters[i] = fmt.Sprintf("%d@%s", v.id, address(v.controller))
	}
	return map[string]string{
		"process.roles":              "broker,controller",
		"node.id":                    strconv.Itoa(n.id),
		"controller.quorum.voters":   strings.Join(voters, ","),
		"controller.listener.names":  "CONTROLLER",
		"inter.broker.listener.name": Plaintext.String(),
		"log.dirs":                   n.dir,
		"auto.create.topics.enable":  "false",
	}
}

// replication fits the internal topics to the number of brokers, and keeps them small: a topic of 50 partitions costs
// a broker on two cores seconds.
func replication(brokers int) map[string]string {
	factor := strconv.Itoa(min(brokers, 3))
	isr := strconv.Itoa(min(brokers, 2))
	return map[string]string{
		"default.replication.factor":                       factor,
		"min.insync.replicas":                              "1",
		"offsets.topic.replication.factor":                 factor,
		"offsets.topic.num.partitions":                     "4",
		"transaction.state.log.replication.factor":         factor,
		"transaction.state.log.min.isr":                    isr,
		"transaction.state.log.num.partitions":             "4",
		"share.coordinator.state.topic.replication.factor": factor,
		"share.coordinator.state.topic.min.isr":            isr,
		"share.coordinator.state.topic.num.partitions":     "4",
	}
}

// quick lets tests meet in seconds what takes minutes in production: sessions are short or may be asked to be, brokers
// are missed soon, retention and compaction run often. A share group's record lock lasts as long as everywhere (30 s),
// but may be set shorter. Names that an older version does not know are ignored by it with a warning.
var quick = map[string]string{
	"group.initial.rebalance.delay.ms":                            "0",
	"group.min.session.timeout.ms":                                "500",
	"group.consumer.min.session.timeout.ms":                       "1000",
	"group.consumer.session.timeout.ms":                           "6000",
	"group.consumer.min.heartbeat.interval.ms":                    "200",
	"group.consumer.heartbeat.interval.ms":                        "500",
	"group.share.min.session.timeout.ms":                          "1000",
	"group.share.session.timeout.ms":                              "6000",
	"group.share.min.heartbeat.interval.ms":                       "200",
	"group.share.heartbeat.interval.ms":                           "500",
	"group.share.min.record.lock.duration.ms":                     "1000",
	"broker.heartbeat.interval.ms":                                "500",
	"broker.session.timeout.ms":                                   "3000",
	"log.initial.task.delay.ms":                                   "500",
	"log.retention.check.interval.ms":                             "1000",
	"log.cleaner.backoff.ms":                                      "500",
	"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}

func listenerProperties(c Config, n node) map[string]string {
	var listeners, advertised, protocolMap []string
	p := map[string]string{}
	for _, l := range c.listeners() {
		listeners = append(listeners, l.String()+"://"+address(n.ports[l]))
		advertised = append(advertised, l.String()+"://"+address(n.advertised(l)))
		protocolMap = append(protocolMap, l.String()+":"+protocols[l])
		prefix := "listener.name." + strings.ToLower(l.String()) + "."
		if l.sasl() {
			p[prefix+"sasl.enabled.mechanisms"] = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"
			p[prefix+"plain.sasl.jaas.config"] = fmt.Sprintf(
				"org.apache.kafka.common.security.plain.PlainLoginModule required user_%s=\"%s\";",
				c.credentials.Username, c.credentials.Password)
			for _, mechanism := range scramMechanisms {
				p[prefix+strings.ToLower(mechanism)+".sasl.jaas.config"] = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
			}
		}
		if l == MutualTLS {
			p[prefix+"ssl.client.auth"] = "required"
		}
	}
	if c.Secure {
		p["ssl.keystore.type"], p["ssl.keystore.location"] = "PEM", c.credentials.serverKeystore
		p["ssl.truststore.type"], p["ssl.truststore.location"] = "PEM", c.credentials.serverTrustFile
	}
	p["advertised.listeners"] = strings.Join(advertised, ",")
	p["listeners"] = strings.Join(append(listeners, "CONTROLLER://"+address(n.controller)), ",")
	p["listener.security.protocol.map"] = strings.Join(append(protocolMap, "CONTROLLER:PLAINTEXT"), ",")
	return p
}

// scramMechanisms are the ones that the user is created for.
var scramMechanisms = []string{"SCRAM-SHA-256", "SCRAM-SHA-512"}
