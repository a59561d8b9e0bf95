package kafka

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Cluster is how a Kafka cluster is reached. It holds what the file says and is not changed afterwards.
type Cluster struct {
	// Name is the cluster's name in the configuration; it leads every error.
	Name string
	// BootstrapServers are host:port addresses of brokers to begin with, at least one.
	BootstrapServers []string
	// TLS is nil for a connection in the clear.
	TLS *TLS
	// SASL is nil where the brokers ask for no login, or know the client by its certificate.
	SASL *SASL
	// Rack is where this process runs (client.rack): fetches then come from a replica in the same rack, where the
	// brokers allow it. Empty: from the leader.
	Rack string
}

// TLS says how to check the brokers, and how to show who we are. Every field may be empty.
type TLS struct {
	// CAFile is a PEM file of the authorities that may sign the brokers' certificates, instead of the system's.
	CAFile string
	// CertFile and KeyFile are the client's certificate chain (leaf first) and its key, both PEM (mutual TLS).
	// They come together.
	CertFile, KeyFile string
	// ServerName is the name to look for in the brokers' certificates, instead of each broker's own host name.
	ServerName string
}

// String tells the cluster as far as it may be told: name, addresses, security, user.
func (c Cluster) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s", c.Name, strings.Join(c.BootstrapServers, ","))
	switch {
	case c.TLS != nil && c.TLS.CertFile != "":
		b.WriteString(", mutual TLS")
	case c.TLS != nil:
		b.WriteString(", TLS")
	}
	if c.SASL != nil {
		b.WriteString(", " + c.SASL.String())
	}
	b.WriteString(")")
	return b.String()
}

// LogValue logs the cluster as String tells it.
func (c Cluster) LogValue() slog.Value { return slog.StringValue(c.String()) }

// check finds everything that is wrong without opening a file.
func (c Cluster) check() error {
	var errs []error
	if len(c.BootstrapServers) == 0 || slices.Contains(c.BootstrapServers, "") {
		errs = append(errs, errors.New("bootstrapServers: at least one host:port is needed, and none may be empty"))
	}
	if c.SASL != nil {
		errs = append(errs, c.SASL.check())
	}
	return errors.Join(errs...)
}
