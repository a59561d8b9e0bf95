package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/plugin/kslog"
)

const (
	// ClientID is how brokers see us in their logs, metrics and quotas.
	ClientID = "sluice"
	// DialTimeout bounds one attempt to connect to a broker, TLS handshake included.
	DialTimeout = 10 * time.Second
)

// NewClient makes a client of the cluster. The options come after its own and win over them. It reads the files that
// the cluster names but does not connect: an unreachable cluster shows with the first request. The error names the
// cluster and every field that is wrong.
//
// The client logs warnings and errors to log. The caller closes it.
func NewClient(c Cluster, log *slog.Logger, opts ...kgo.Opt) (*kgo.Client, error) {
	own, err := c.options(log)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	cl, err := kgo.NewClient(append(own, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	return cl, nil
}

// Admin makes a client of the cluster for questions and changes to topics, groups and offsets, as NewClient does. It
// belongs to no group. The caller closes it.
func Admin(c Cluster, log *slog.Logger, opts ...kgo.Opt) (*kadm.Client, error) {
	cl, err := NewClient(c, log, opts...)
	if err != nil {
		return nil, err
	}
	return kadm.NewClient(cl), nil
}

// Clusters whose brokers have no id at all are older than Kafka 0.10.1, which no mode of Sluice supports.
var errNoClusterID = errors.New("the brokers tell no cluster id")

// ClusterID asks a broker for the cluster's own id: it is the same under whatever addresses or name the cluster is
// configured, and on every broker of it.
func ClusterID(ctx context.Context, cl *kgo.Client) (string, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // an empty list asks for no topic, nil for all
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return "", err
	}
	if resp.ClusterID == nil || *resp.ClusterID == "" {
		return "", errNoClusterID
	}
	return *resp.ClusterID, nil
}

func (c Cluster) options(log *slog.Logger) ([]kgo.Opt, error) {
	own := slog.New(newClientLog(log.Handler())).With("cluster", c.Name)
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.BootstrapServers...),
		kgo.ClientID(ClientID),
		kgo.WithLogger(kslog.New(own)),
	}
	dial := (&net.Dialer{Timeout: DialTimeout}).DialContext
	errs := []error{c.check()}
	if c.TLS != nil {
		files, err := c.TLS.open()
		errs = append(errs, err)
		dial = dialer(files, own)
	}
	opts = append(opts, kgo.Dialer(newHung(dial).DialContext))
	if c.SASL != nil {
		mechanism, err := c.SASL.mechanism(own)
		errs = append(errs, err)
		opts = append(opts, kgo.SASL(mechanism))
		if c.TLS == nil && c.SASL.clear() {
			log.Warn("the login goes over the network in the clear; set tls, or use SCRAM", "cluster", c.Name)
		}
	}
	if c.Rack != "" {
		opts = append(opts, kgo.Rack(c.Rack))
	}
	return opts, errors.Join(errs...)
}
