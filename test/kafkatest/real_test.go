//go:build real

package kafkatest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/kafkatest/broker"
)

func TestMain(m *testing.M) { kafkatest.Main(m) }

func TestHelpersOnSharedKafka(t *testing.T) {
	c := kafkatest.Shared(t)
	if got := c.Version(); got != kafkatest.DefaultVersion() {
		t.Errorf("the broker says that it is %s, want %s", got, kafkatest.DefaultVersion())
	}
	helpers(t, c)
}

func TestHelpersOnOlderVersions(t *testing.T) {
	for _, version := range []string{broker.Oldest, broker.NoShareGroups} {
		t.Run(version, func(t *testing.T) {
			c := kafkatest.Start(t, kafkatest.Options{Version: version})
			if got := c.Version(); got != version {
				t.Errorf("the broker says that it is %s, want %s", got, version)
			}
			helpers(t, c)
		})
	}
}

func TestShareGroupsByVersion(t *testing.T) {
	for version, want := range map[string]bool{broker.Newest: true, broker.Oldest: true, broker.NoShareGroups: false} {
		t.Run(version, func(t *testing.T) {
			c := kafkatest.Start(t, kafkatest.Options{Version: version})
			versions, err := c.Admin().ApiVersions(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			const shareFetch = 78
			for _, node := range versions {
				if _, got := node.KeyMaxVersion(shareFetch); got != want {
					t.Errorf("broker %d offers ShareFetch: %v, want %v", node.NodeID, got, want)
				}
			}
		})
	}
}

func TestBrokersDieAndComeBack(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{Brokers: 3})
	helpers(t, c)
	topic := c.Name("survivor")
	c.CreateTopic(topic, 6, map[string]string{"min.insync.replicas": "2"})
	for id := 1; id <= 3; id++ {
		c.Kill(id)
		for p := range int32(6) {
			c.Produce(&kgo.Record{Topic: topic, Partition: p})
		}
		c.Restart(id)
		c.WaitInSync(time.Minute, topic)
	}
	c.StopBroker(1)
	c.Restart(1)
	if got := len(c.Records(topic)); got != 18 {
		t.Errorf("%d records, want 18", got)
	}
}

func TestAFrozenBrokerAnswersAgain(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{})
	c.CreateTopic("t", 1, nil)
	c.Freeze(1)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := c.Client().Ping(ctx); err == nil {
		t.Error("a frozen broker answered")
	}
	c.Thaw(1)
	c.Produce(&kgo.Record{Topic: "t"})
}

func TestSecureListeners(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{Secure: true})
	cred := c.Credentials()
	server := clientTLS(t, cred.CAFile, "", "")
	scramAuth := scram.Auth{User: cred.Username, Pass: cred.Password}
	plainAuth := plain.Auth{User: cred.Username, Pass: cred.Password}
	cases := []struct {
		name     string
		listener broker.Listener
		tls      *tls.Config
		sasl     sasl.Mechanism
		ok       bool
	}{
		{"no encryption", broker.Plaintext, nil, nil, true},
		{"PLAIN", broker.SASLPlaintext, nil, plainAuth.AsMechanism(), true},
		{"SCRAM-SHA-256", broker.SASLPlaintext, nil, scramAuth.AsSha256Mechanism(), true},
		{"SCRAM-SHA-512", broker.SASLPlaintext, nil, scramAuth.AsSha512Mechanism(), true},
		{"a wrong password", broker.SASLPlaintext, nil, scram.Auth{User: cred.Username, Pass: "no"}.AsSha512Mechanism(), false},
		{"SCRAM over TLS", broker.SASLTLS, server, scramAuth.AsSha512Mechanism(), true},
		{"TLS", broker.TLS, server, nil, true},
		{"TLS with an unknown CA", broker.TLS, clientTLS(t, cred.OtherCAFile, "", ""), nil, false},
		{"mutual TLS", broker.MutualTLS, clientTLS(t, cred.CAFile, cred.CertFile, cred.KeyFile), nil, true},
		{"mutual TLS without a certificate", broker.MutualTLS, server, nil, false},
		{"mutual TLS with a stranger's", broker.MutualTLS, clientTLS(t, cred.CAFile, cred.OtherCertFile, cred.OtherKeyFile), nil, false},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			options := []kgo.Opt{kgo.SeedBrokers(c.Address(test.listener)...), kgo.RequestRetries(0)}
			if test.tls != nil {
				options = append(options, kgo.DialTLSConfig(test.tls))
			}
			if test.sasl != nil {
				options = append(options, kgo.SASL(test.sasl))
			}
			client, err := kgo.NewClient(options...)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := client.Ping(ctx); (err == nil) != test.ok {
				t.Errorf("Ping: %v, want success: %v", err, test.ok)
			} else if err != nil && !test.ok {
				t.Logf("refused as it should be: %v (Kafka error: %v)", err, kerr.IsRetriable(err))
			}
		})
	}
}

func clientTLS(t *testing.T, ca, cert, key string) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(pem)
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}
