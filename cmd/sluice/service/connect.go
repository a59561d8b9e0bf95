package service

import (
	"log/slog"
	"net/http"

	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/internal/tlsfile"
	"github.com/sluicehq/sluice/invoke/httpfn"
	"github.com/sluicehq/sluice/mapping"
)

// Clusters translates the clusters of a configuration. Clients of the same one share its token or credentials.
func Clusters(c *config.Config) map[mapping.ClusterName]kafka.Cluster {
	clusters := make(map[mapping.ClusterName]kafka.Cluster, len(c.Clusters))
	for name, cluster := range c.Clusters {
		k := kafka.Cluster{Name: string(name), BootstrapServers: cluster.BootstrapServers, SASL: login(cluster.SASL)}
		if t := cluster.TLS; t != nil {
			k.TLS = &kafka.TLS{CAFile: t.CAFile, CertFile: t.CertFile, KeyFile: t.KeyFile, ServerName: t.ServerName}
		}
		clusters[name] = k
	}
	return clusters
}

func login(s *config.SASL) *kafka.SASL {
	if s == nil {
		return nil
	}
	k := &kafka.SASL{Mechanism: string(s.Mechanism), Username: s.Username, Password: secret(s.Password)}
	if o := s.OAuth; o != nil {
		k.OAuth = &kafka.OAuth{
			TokenEndpointURL: o.TokenEndpointURL, CAFile: o.TokenEndpointCAFile, ClientID: o.ClientID,
			ClientSecret: secret(o.ClientSecret), Scope: o.Scope, Audience: o.Audience, Extensions: o.Extensions,
		}
	}
	if s.Mechanism == config.MSKIAM {
		k.IAM = &kafka.IAM{Region: s.Region}
	}
	return k
}

// secret hands on how a secret is read, not what it is now.
func secret(s config.Secret) kafka.Secret {
	if s.IsZero() {
		return nil
	}
	return s.Read
}

// FunctionConfig translates a function.
func FunctionConfig(f config.Function, log *slog.Logger) httpfn.Config {
	c := httpfn.Config{
		Name: string(f.Name), URL: f.URL, Timeout: f.Timeout, ErrorDetection: httpfn.ErrorDetection(f.ErrorDetection),
		Headers: make(http.Header, len(f.Headers)), Log: log,
	}
	renewable := false
	for name, value := range f.Headers {
		c.Headers[name] = []string{value.Reveal()}
		renewable = renewable || value.FromFile()
	}
	if renewable {
		c.RenewHeaders = func() (http.Header, error) { return headers(f.Headers) }
	}
	if t := f.TLS; t != nil {
		c.TLSFiles = &tlsfile.Names{CAFile: t.CAFile, CertFile: t.CertFile, KeyFile: t.KeyFile, ServerName: t.ServerName}
	}
	return c
}

// headers reads the values as they are now. The error is of the first that could not be read.
func headers(values map[string]config.Secret) (http.Header, error) {
	h := make(http.Header, len(values))
	var failed error
	for name, value := range values {
		text, err := value.Read()
		if err != nil && failed == nil {
			failed = err
		}
		h[name] = []string{text}
	}
	return h, failed
}
