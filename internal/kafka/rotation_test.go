package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// listener remembers its connections, so that a test can break them all.
type listener struct {
	net.Listener
	mu    *sync.Mutex
	conns *[]net.Conn
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		*l.conns = append(*l.conns, c)
		l.mu.Unlock()
	}
	return c, err
}

// breakable is kfake whose connections can be broken, all at once, with the second result.
func breakable(t *testing.T, opts ...kfake.Opt) (addresses []string, cut func()) {
	t.Helper()
	var mu sync.Mutex
	var conns []net.Conn
	listen := kfake.ListenFn(func(network, address string) (net.Listener, error) {
		l, err := net.Listen(network, address)
		return listener{l, &mu, &conns}, err
	})
	return fake(t, append(opts, listen)...), func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			_ = c.Close() // it may be closed already
		}
		conns = nil
	}
}

func ping(t *testing.T, cl *kgo.Client) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := cl.Ping(ctx)
	if errors.Is(err, io.EOF) { // a connection that was cut shows so once; what counts is the next one
		err = cl.Ping(ctx)
	}
	return err
}

// Fault 114: client certificate, key and authority are swapped by a symlink while a client runs, and the brokers take
// the new ones only. The next connection has them.
func TestNewConnectionsHaveTheNewCertificates(t *testing.T) {
	hour := time.Now().Add(time.Hour)
	old, next := newAuthority(t, "old"), newAuthority(t, "next")
	var now sync.Map
	now.Store("authority", old)
	servers := map[*authority]*tls.Config{}
	for _, a := range []*authority{old, next} {
		servers[a] = a.mutual()
	}
	brokers := &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		a, _ := now.Load("authority")
		return servers[a.(*authority)], nil
	}}
	addresses, cut := breakable(t, kfake.TLS(brokers))

	dir := t.TempDir()
	for _, a := range []*authority{old, next} {
		a.issue("client", hour)
		if err := os.Symlink(a.dir, filepath.Join(dir, strings.TrimSuffix(filepath.Base(a.file), ".pem"))); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(a.file, filepath.Join(a.dir, "ca.pem")); err != nil {
			t.Fatal(err)
		}
	}
	swap := func(to string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, "..next")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(dir, "..data", name) }
	swap("old")
	cl := client(t, Cluster{
		Name: "main", BootstrapServers: addresses,
		TLS: &TLS{CAFile: file("ca.pem"), CertFile: file("client.pem"), KeyFile: file("client.key")},
	})
	if err := ping(t, cl); err != nil {
		t.Fatal(err)
	}
	now.Store("authority", next)
	cut()
	err := ping(t, cl)
	if reason, _ := Explain(err); reason != wrongCA {
		t.Fatalf("with the old files: %v", err)
	}
	swap("next")
	cut()
	if err := ping(t, cl); err != nil {
		t.Errorf("with the new files: %v", err)
	}
}

// A changed password is used by the next login.
func TestNewConnectionsHaveTheNewPassword(t *testing.T) {
	for _, mechanism := range []string{ScramSHA256, ScramSHA512} {
		t.Run(mechanism, func(t *testing.T) {
			addresses, cut := breakable(t, kfake.EnableSASL(), kfake.Superuser(Plain, "admin", "admin"), kfake.Superuser(mechanism, "svc", "one"))
			file := filepath.Join(t.TempDir(), "password")
			write := func(text string) {
				t.Helper()
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			read := func() (string, error) {
				data, err := os.ReadFile(file)
				return string(data), err
			}
			write("one")
			cl := client(t, Cluster{
				Name: "main", BootstrapServers: addresses, SASL: &SASL{Mechanism: mechanism, Username: "svc", Password: read},
			})
			if err := ping(t, cl); err != nil {
				t.Fatal(err)
			}

			admin, err := Admin(Cluster{
				Name: "admin", BootstrapServers: addresses, SASL: &SASL{Mechanism: Plain, Username: "admin", Password: Text("admin")},
			}, quiet)
			if err != nil {
				t.Fatal(err)
			}
			defer admin.Close()
			kinds := map[string]kadm.ScramMechanism{ScramSHA256: kadm.ScramSha256, ScramSHA512: kadm.ScramSha512}
			altered, err := admin.AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{
				{User: "svc", Mechanism: kinds[mechanism], Iterations: 4096, Password: "two"},
			})
			if err != nil || altered.Error() != nil {
				t.Fatal(err, altered.Error())
			}
			cut()
			if err := ping(t, cl); err == nil {
				t.Fatal("the old password still works")
			}
			write("two")
			cut()
			if err := ping(t, cl); err != nil {
				t.Errorf("with the new password: %v", err)
			}
		})
	}
}
