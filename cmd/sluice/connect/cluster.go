package connect

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/mapping"
)

// brokersMax is how many of the brokers that a cluster advertises are tried.
const brokersMax = 100

// cluster is one that lets us in.
type cluster struct {
	name   mapping.ClusterName
	client *kgo.Client
	who    string // for messages: «user "svc"»

	once   sync.Once
	topics []string // all that we may see
}

// cluster tries each bootstrap server, and then each broker that they advertise.
func (k *checker) cluster(ctx context.Context, name mapping.ClusterName) {
	c := k.clusters[name]
	if !k.inDate(k.config.Clusters[name].TLS, func(key string) config.Where { return k.config.ClusterAt(name, "tls."+key) }) {
		return // nobody would let us in
	}
	works := make([]bool, len(c.BootstrapServers))
	var wg sync.WaitGroup
	for i := range c.BootstrapServers {
		wg.Go(func() { works[i] = k.server(ctx, name, i) })
	}
	wg.Wait()
	var servers []string
	for i, ok := range works {
		if ok {
			servers = append(servers, c.BootstrapServers[i])
		}
	}
	if len(servers) == 0 {
		return
	}
	c.BootstrapServers = servers
	cl, err := client(c)
	if err != nil {
		k.report(k.config.ClusterAt(name, ""), "", "%v", err)
		return
	}
	ready := &cluster{name: name, client: cl, who: who(k.config.Clusters[name])}
	k.mu.Lock()
	k.ready[name] = ready
	k.mu.Unlock()
	k.brokers(ctx, ready)
}

// server tries one bootstrap server and says whether it works.
func (k *checker) server(ctx context.Context, name mapping.ClusterName, i int) bool {
	c := k.clusters[name]
	c.BootstrapServers = c.BootstrapServers[i : i+1]
	cl, err := client(c)
	if err == nil {
		defer cl.Close()
		err = cl.Ping(ctx)
	}
	if err == nil {
		return true
	}
	reason, hint := kafka.Explain(err)
	at := k.config.ClusterAt(name, fmt.Sprintf("bootstrapServers[%d]", i))
	switch key := kafka.Blame(err); {
	case key == "sasl":
		k.report(k.config.ClusterAt(name, key), hint, "%s", reason)
	case key == "tls":
		k.report(k.config.ClusterAt(name, key), hint, "%s: %s", at.Quote(c.BootstrapServers[0]), reason)
	default:
		k.report(at, hint, "%s: %s", at.Quote(c.BootstrapServers[0]), detailed(reason, err))
	}
	return false
}

// detailed adds the error to a reason that says nothing by itself.
func detailed(reason string, err error) string {
	if unknown, _ := kafka.Explain(errUnknown{}); reason == unknown {
		return reason + ": " + err.Error()
	}
	return reason
}

// errUnknown is an error that means nothing.
type errUnknown struct{}

// Error is not shown.
func (errUnknown) Error() string { return "" }

// brokers tries the brokers under the addresses that they advertise: clients are sent there whatever the configuration says.
func (k *checker) brokers(ctx context.Context, c *cluster) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp, err := req.RequestWith(ctx, c.client)
	if err != nil {
		reason, hint := kafka.Explain(err)
		k.report(k.config.ClusterAt(c.name, "bootstrapServers"), hint, "%s", detailed(reason, err))
		return
	}
	var wg sync.WaitGroup
	for _, b := range resp.Brokers[:min(len(resp.Brokers), brokersMax)] {
		wg.Go(func() {
			ping := kmsg.NewPtrMetadataRequest()
			ping.Topics = []kmsg.MetadataRequestTopic{}
			if _, err := c.client.Broker(int(b.NodeID)).RetriableRequest(ctx, ping); err != nil {
				reason, _ := kafka.Explain(err)
				k.report(k.config.ClusterAt(c.name, "bootstrapServers"),
					"correct the broker's advertised.listeners, or let its address through",
					"broker %d advertises %s, where it cannot be used from here: %s", b.NodeID,
					net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))), detailed(reason, err))
			}
		})
	}
	wg.Wait()
}

// inDate says whether the client's certificate may be shown today, and reports another: who refuses an expired one often
// does not say why.
func (k *checker) inDate(t *config.TLS, at func(key string) config.Where) bool {
	if t == nil || t.CertFile == "" {
		return true
	}
	pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		k.report(at("certFile"), "", "cannot be used: %v", err)
		return false
	}
	leaf, now := pair.Leaf, time.Now()
	switch {
	case now.After(leaf.NotAfter):
		k.report(at("certFile"), "renew it", "the certificate expired on %s", leaf.NotAfter.UTC().Format(time.DateOnly))
		return false
	case now.Before(leaf.NotBefore):
		k.report(at("certFile"), "check this machine's clock", "the certificate is not valid before %s", leaf.NotBefore.UTC().Format(time.DateTime))
		return false
	}
	return true
}

// who says whom the brokers take us for.
func who(c config.Cluster) string {
	switch {
	case c.SASL != nil && c.SASL.Username != "":
		return fmt.Sprintf("user %q", c.SASL.Username)
	case c.SASL != nil && c.SASL.OAuth != nil:
		return fmt.Sprintf("client %q", c.SASL.OAuth.ClientID)
	case c.SASL != nil:
		return "this AWS identity"
	case c.TLS != nil && c.TLS.CertFile != "":
		return "the owner of the client certificate"
	}
	return "an anonymous client"
}

// visible returns all topics that we may see, asked once.
func (c *cluster) visible(ctx context.Context) []string {
	c.once.Do(func() {
		resp, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, c.client) // nil topics: all
		if err != nil {
			return
		}
		for _, t := range resp.Topics {
			if t.Topic != nil && !t.IsInternal && t.ErrorCode == 0 {
				c.topics = append(c.topics, *t.Topic)
			}
		}
	})
	return c.topics
}
