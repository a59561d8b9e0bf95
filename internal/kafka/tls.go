package kafka

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"

	"github.com/sluicehq/sluice/internal/tlsfile"
)

func (t *TLS) open() (*tlsfile.Source, error) {
	return tlsfile.Open("tls", tlsfile.Names{CAFile: t.CAFile, CertFile: t.CertFile, KeyFile: t.KeyFile, ServerName: t.ServerName})
}

// dialer dials with TLS. Each connection has the certificates and authorities that the files hold when it is made, and
// no session of an earlier one: with that the brokers would go on taking us for who we were.
func dialer(files *tlsfile.Source, log *slog.Logger) func(ctx context.Context, kind, address string) (net.Conn, error) {
	network := &net.Dialer{Timeout: DialTimeout}
	return func(ctx context.Context, kind, address string) (net.Conn, error) {
		now, err := files.Config()
		if err != nil {
			log.Warn("changed TLS files cannot be used; the ones before are", "error", err)
		}
		config := now.Clone()
		if config.ServerName == "" {
			if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
				return nil, fmt.Errorf("address %q of a broker: %w", address, err)
			}
		}
		return (&tls.Dialer{NetDialer: network, Config: config}).DialContext(ctx, kind, address)
	}
}
