//go:build real

package kafka

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/test/kafkatest/broker" // kafkatest itself imports this package
)

// TestRealKafka speaks every security that we offer with a real broker, and has it refuse us in every usual way. The
// broker starts once, with ACLs: whoever logs in may use the topic orders and nothing else.
func TestRealKafka(t *testing.T) {
	k, err := broker.Start(t.Context(), broker.Config{Dir: t.TempDir(), Secure: true, Properties: map[string]string{
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":           "User:ANONYMOUS;User:CN=svc", // who comes in the clear, and who shows the client's certificate
		// Tokens without a signature are taken, by Kafka's own validator for tests, and a session ends with its token.
		"listener.name.saslplain.sasl.enabled.mechanisms":                        "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
		"listener.name.saslplain.oauthbearer.sasl.jaas.config":                   `org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
		"listener.name.saslplain.oauthbearer.connections.max.reauth.ms":          "60000",
		"listener.name.saslplain.oauthbearer.sasl.server.callback.handler.class": "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	login := k.Credentials()
	at := func(l broker.Listener) Cluster {
		return Cluster{Name: l.String(), BootstrapServers: k.Addresses(l)}
	}
	admin := kadm.NewClient(client(t, at(broker.Plaintext)))
	if _, err := admin.CreateTopics(t.Context(), 1, 1, nil, "orders", "forbidden"); err != nil {
		t.Fatal(err)
	}
	acl := kadm.NewACLs().Allow("User:"+login.Username).Topics("orders").
		Operations(kadm.OpRead, kadm.OpWrite, kadm.OpDescribe).ResourcePatternType(kadm.ACLPatternLiteral)
	if granted, err := admin.CreateACLs(t.Context(), acl); err != nil || granted[0].Err != nil {
		t.Fatal(err, granted)
	}
	user := func(mechanism string) *SASL {
		return &SASL{Mechanism: mechanism, Username: login.Username, Password: Text(login.Password)}
	}
	ca := TLS{CAFile: login.CAFile}
	var p *idp // of the last bearer
	bearer := func(subject, secret string) Cluster {
		p = &idp{secret: "s3cret", life: 4, token: func(int) string { return unsecured(subject, 4*time.Second) }}
		c := at(broker.SASLPlaintext)
		c.SASL = &SASL{Mechanism: OAuthBearer, OAuth: &OAuth{
			TokenEndpointURL: endpoint(t, p), ClientID: "svc", ClientSecret: Text(secret), Extensions: map[string]string{"logicalCluster": "lkc-1"},
		}}
		return c
	}

	for _, c := range []struct {
		name    string
		cluster func() Cluster
	}{
		{"in the clear", func() Cluster { return at(broker.Plaintext) }},
		{"mutual TLS", func() Cluster {
			c := at(broker.MutualTLS)
			c.TLS = &TLS{CAFile: login.CAFile, CertFile: login.CertFile, KeyFile: login.KeyFile}
			return c
		}},
		{"PLAIN over TLS", func() Cluster { c := at(broker.SASLTLS); c.TLS, c.SASL = &ca, user(Plain); return c }},
		{"SCRAM-SHA-256 over TLS", func() Cluster { c := at(broker.SASLTLS); c.TLS, c.SASL = &ca, user(ScramSHA256); return c }},
		{"SCRAM-SHA-512 over TLS", func() Cluster { c := at(broker.SASLTLS); c.TLS, c.SASL = &ca, user(ScramSHA512); return c }},
		{"OAUTHBEARER in the clear", func() Cluster { return bearer(login.Username, "s3cret") }},
		{"SCRAM-SHA-512 in the clear", func() Cluster { c := at(broker.SASLPlaintext); c.SASL = user(ScramSHA512); return c }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := roundTrip(t, c.cluster(), "orders"); err != nil {
				t.Error(err)
			}
		})
	}

	for _, c := range []struct {
		name    string
		cluster func() Cluster
		topic   string
		want    string
	}{
		{"a wrong password, SCRAM", func() Cluster {
			c := at(broker.SASLTLS)
			c.TLS, c.SASL = &ca, &SASL{Mechanism: ScramSHA512, Username: login.Username, Password: Text("wrong")}
			return c
		}, "", wrongPassword},
		{"a wrong password, PLAIN", func() Cluster {
			c := at(broker.SASLTLS)
			c.TLS, c.SASL = &ca, &SASL{Mechanism: Plain, Username: login.Username, Password: Text("wrong")}
			return c
		}, "", wrongPassword},
		{"an unknown user", func() Cluster {
			c := at(broker.SASLTLS)
			c.TLS, c.SASL = &ca, &SASL{Mechanism: ScramSHA256, Username: "nobody", Password: Text("wrong")}
			return c
		}, "", wrongPassword},
		{"a token that the brokers refuse", func() Cluster { return bearer("", "s3cret") }, "", wrongPassword},
		{"a token endpoint that refuses us", func() Cluster { return bearer("svc", "wrong") }, "", "the token endpoint refused the client"},
		{"a mechanism that the listener lacks", func() Cluster {
			c := at(broker.SASLTLS)
			c.TLS, c.SASL = &ca, &SASL{Mechanism: MSKIAM, IAM: &IAM{Region: "eu-west-1", Credentials: credentials("")}}
			return c
		}, "", "the brokers do not offer this SASL mechanism"},
		{"a wrong authority", func() Cluster {
			c := at(broker.TLS)
			c.TLS = &TLS{CAFile: login.OtherCAFile}
			return c
		}, "", wrongCA},
		{"a client certificate of another authority", func() Cluster {
			c := at(broker.MutualTLS)
			c.TLS = &TLS{CAFile: login.CAFile, CertFile: login.OtherCertFile, KeyFile: login.OtherKeyFile}
			return c
		}, "", refusedCert},
		{"no client certificate", func() Cluster { c := at(broker.MutualTLS); c.TLS = &ca; return c }, "", refusedCert},
		{"a closed port", func() Cluster {
			return Cluster{Name: "closed", BootstrapServers: []string{closedPort(t)}}
		}, "", "nothing listens on the brokers' port"},
		{"TLS to a port without", func() Cluster { c := at(broker.Plaintext); c.TLS = &ca; return c }, "", closedAtOnce},
		{"no TLS to a port with it", func() Cluster { return at(broker.TLS) }, "", wrongTLS},
		{"no login where one is wanted", func() Cluster { c := at(broker.SASLTLS); c.TLS = &ca; return c }, "", closedAtOnce},
		{"a missing topic", func() Cluster { return at(broker.Plaintext) }, "missing", missingTopic},
		{"a missing ACL", func() Cluster { c := at(broker.SASLTLS); c.TLS, c.SASL = &ca, user(ScramSHA512); return c }, "forbidden", "not allowed on the topic"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			cl := client(t, c.cluster(), kgo.UnknownTopicRetries(0))
			err := cl.Ping(ctx)
			if c.topic != "" {
				err = cl.ProduceSync(ctx, &kgo.Record{Topic: c.topic}).FirstErr()
			}
			if reason, hint := Explain(err); err == nil || reason != c.want || hint == "" {
				t.Errorf("%v (%T)\nis %q (%s)\nwant %q", err, err, reason, hint, c.want)
			}
		})
	}

	// A session ends with its token; the connection goes on with the next one (KIP-368).
	t.Run("tokens are renewed on standing connections", func(t *testing.T) {
		c := bearer(login.Username, "s3cret")
		cl := client(t, c)
		for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(200 * time.Millisecond) {
			if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "orders"}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		p.set(func(p *idp) {
			if p.issued < 3 {
				t.Errorf("%d tokens of 4 s were used in 10 s", p.issued)
			}
		})
	})
}

// unsecured is a JSON Web Token without a signature (RFC 7519, 6).
func unsecured(subject string, life time.Duration) string {
	now := time.Now()
	part := func(v map[string]any) string {
		text, _ := json.Marshal(v) // of texts and numbers
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(map[string]any{"alg": "none"}) + "." +
		part(map[string]any{"sub": subject, "iat": now.Unix(), "exp": now.Add(life).Unix()}) + "."
}
