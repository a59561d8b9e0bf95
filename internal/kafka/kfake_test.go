package kafka

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

func fake(t *testing.T, opts ...kfake.Opt) []string {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(1, "orders")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()
}

func client(t *testing.T, c Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := NewClient(c, quiet, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// roundTrip writes a record with one client of the cluster and reads it with another.
func roundTrip(t *testing.T, c Cluster, topic string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	written := client(t, c).ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("hello")})
	if err := written.FirstErr(); err != nil {
		return err
	}
	fetches := client(t, c, kgo.ConsumeTopics(topic)).PollFetches(ctx)
	if err := fetches.Err(); err != nil {
		return err
	}
	if n := fetches.NumRecords(); n < 1 {
		return fmt.Errorf("read %d records", n)
	}
	return nil
}

func TestEverySecurityTalksToKfake(t *testing.T) {
	ca := newAuthority(t, "ca")
	hour := time.Now().Add(time.Hour)
	certFile, keyFile := ca.issue("client", hour)
	login := func(mechanism string) *SASL {
		return &SASL{Mechanism: mechanism, Username: "svc", Password: Text("pw")}
	}
	user := func(mechanism string) []kfake.Opt {
		return []kfake.Opt{kfake.EnableSASL(), kfake.Superuser(mechanism, "svc", "pw")}
	}
	for _, c := range []struct {
		name    string
		broker  []kfake.Opt
		cluster Cluster
	}{
		{"in the clear", nil, Cluster{}},
		{"with a rack", nil, Cluster{Rack: "eu-1a"}},
		{"TLS with a private authority", []kfake.Opt{kfake.TLS(ca.server(hour))}, Cluster{TLS: &TLS{CAFile: ca.file}}},
		{
			"TLS under another server name",
			[]kfake.Opt{kfake.TLS(ca.server(hour))},
			Cluster{TLS: &TLS{CAFile: ca.file, ServerName: "broker.test"}},
		},
		{
			"mutual TLS",
			[]kfake.Opt{kfake.TLS(ca.mutual())},
			Cluster{TLS: &TLS{CAFile: ca.file, CertFile: certFile, KeyFile: keyFile}},
		},
		{"PLAIN", user(Plain), Cluster{SASL: login(Plain)}},
		{"SCRAM-SHA-256", user(ScramSHA256), Cluster{SASL: login(ScramSHA256)}},
		{"SCRAM-SHA-512", user(ScramSHA512), Cluster{SASL: login(ScramSHA512)}},
		{
			"SCRAM-SHA-512 over TLS",
			append(user(ScramSHA512), kfake.TLS(ca.server(hour))),
			Cluster{SASL: login(ScramSHA512), TLS: &TLS{CAFile: ca.file}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cluster.Name, c.cluster.BootstrapServers = "main", fake(t, c.broker...)
			if err := roundTrip(t, c.cluster, "orders"); err != nil {
				t.Error(err)
			}
		})
	}
}

// Every usual failure has a reason of its own, which an operator can tell from the others.
func TestFailuresHaveReasonsOfTheirOwn(t *testing.T) {
	ca, other := newAuthority(t, "ca"), newAuthority(t, "other")
	hour := time.Now().Add(time.Hour)
	otherCert, otherKey := other.issue("client", hour)
	reader := kfake.User(Plain, "reader", "pw", kfake.ACL{
		Resource: kmsg.ACLResourceTypeTopic, Name: "orders", Pattern: kmsg.ACLResourcePatternTypeLiteral,
		Operation: kmsg.ACLOperationDescribe, Allow: true,
	})
	for _, c := range []struct {
		name   string
		broker []kfake.Opt
		edit   func(*Cluster)
		topic  string
		want   string
	}{
		{
			"a closed port", nil,
			func(c *Cluster) { c.BootstrapServers = []string{closedPort(t)} },
			"", "nothing listens on the brokers' port",
		},
		{"a missing topic", nil, nil, "missing", missingTopic},
		{
			"a missing ACL",
			[]kfake.Opt{kfake.EnableSASL(), kfake.EnableACLs(), reader},
			func(c *Cluster) { c.SASL = &SASL{Mechanism: Plain, Username: "reader", Password: Text("pw")} },
			"orders", "not allowed on the topic",
		},
		{
			"a wrong authority",
			[]kfake.Opt{kfake.TLS(ca.server(hour))},
			func(c *Cluster) { c.TLS = &TLS{CAFile: other.file} }, "", wrongCA,
		},
		{
			"an authority that this machine does not know",
			[]kfake.Opt{kfake.TLS(ca.server(hour))},
			func(c *Cluster) { c.TLS = &TLS{} }, "", wrongCA,
		},
		{
			"another host name",
			[]kfake.Opt{kfake.TLS(ca.server(hour))},
			func(c *Cluster) { c.TLS = &TLS{CAFile: ca.file, ServerName: "elsewhere"} },
			"", "the brokers' certificate is for another host name",
		},
		{
			"an expired certificate",
			[]kfake.Opt{kfake.TLS(ca.server(time.Now().Add(-time.Hour)))},
			func(c *Cluster) { c.TLS = &TLS{CAFile: ca.file} },
			"", "the brokers' certificate has expired or is not valid yet",
		},
		{
			"no client certificate",
			[]kfake.Opt{kfake.TLS(ca.mutual())},
			func(c *Cluster) { c.TLS = &TLS{CAFile: ca.file} }, "", refusedCert,
		},
		{
			"a client certificate of another authority",
			[]kfake.Opt{kfake.TLS(ca.mutual())},
			func(c *Cluster) { c.TLS = &TLS{CAFile: ca.file, CertFile: otherCert, KeyFile: otherKey} },
			"", refusedCert,
		},
		{"none where the brokers have TLS", []kfake.Opt{kfake.TLS(ca.server(hour))}, nil, "", closedAtOnce},
		{"no login where the brokers want one", []kfake.Opt{kfake.EnableSASL()}, nil, "", closedAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := Cluster{Name: "main", BootstrapServers: fake(t, c.broker...)}
			if c.edit != nil {
				c.edit(&cluster)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			cl := client(t, cluster, kgo.UnknownTopicRetries(0), kgo.DisableIdempotentWrite())
			err := cl.Ping(ctx)
			if c.topic != "" {
				err = cl.ProduceSync(ctx, &kgo.Record{Topic: c.topic}).FirstErr()
			}
			reason, hint := Explain(err)
			if err == nil || reason != c.want || hint == "" {
				t.Errorf("%v (%T)\nis %q (%s)\nwant %q", err, err, reason, hint, c.want)
			}
		})
	}
}

// kfake hangs up on a wrong password where Kafka says so, hence an answer made by hand. The real one is tested with
// real brokers.
func TestAWrongPasswordIsToldFromTheRest(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.ControlKey(int16(kmsg.SASLAuthenticate), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return resp, nil, true
	})
	cl := client(t, Cluster{
		Name: "main", BootstrapServers: c.ListenAddrs(),
		SASL: &SASL{Mechanism: ScramSHA512, Username: "admin", Password: Text("wrong")},
	})
	if reason, _ := Explain(cl.Ping(t.Context())); reason != wrongPassword {
		t.Errorf("%v is %q, want %q", cl.Ping(t.Context()), reason, wrongPassword)
	}
}

// A producer wraps what held its record up; the cause is the reason, not the time-out.
func TestATimeOutTellsItsCause(t *testing.T) {
	cl := client(t, Cluster{Name: "main", BootstrapServers: []string{closedPort(t)}}, kgo.RecordDeliveryTimeout(time.Second))
	err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "orders"}).FirstErr()
	if reason, _ := Explain(err); reason != "nothing listens on the brokers' port" {
		t.Errorf("%v is %q", err, reason)
	}
	if reason, _ := Explain(kgo.ErrRecordTimeout); reason != "the brokers did not confirm the record in time" {
		t.Errorf("a bare time-out is %q", reason)
	}
}

func TestAnUnknownHostIsNamed(t *testing.T) {
	lookup := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "broker.invalid", IsNotFound: true}}
	}
	cl := client(t, Cluster{Name: "main", BootstrapServers: []string{"broker.invalid:9092"}}, kgo.Dialer(lookup))
	if reason, hint := Explain(cl.Ping(t.Context())); reason != "a broker's host name is unknown" || !strings.Contains(hint, "broker.invalid") {
		t.Errorf("%q, hint %q", reason, hint)
	}
}

func TestAMechanismThatTheBrokersLackIsNamed(t *testing.T) {
	for _, err := range []error{kerr.UnsupportedSaslMechanism, fmt.Errorf("wrapped: %w", kerr.UnsupportedSaslMechanism)} {
		if reason, _ := Explain(err); reason != "the brokers do not offer this SASL mechanism" {
			t.Errorf("%v is %q", err, reason)
		}
	}
}

func TestABrokerThatDoesNotAnswerIsToldFromAClosedPort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err = client(t, Cluster{Name: "main", BootstrapServers: []string{listener.Addr().String()}}).Ping(ctx)
	if reason, _ := Explain(err); reason != "the brokers do not answer" {
		t.Errorf("%v is %q", err, reason)
	}
	if reason, _ := Explain(os.ErrDeadlineExceeded); reason != "the brokers do not answer" {
		t.Errorf("a deadline is %q", reason)
	}
}

func TestClusterID(t *testing.T) {
	a := fake(t, kfake.ClusterID("one"), kfake.NumBrokers(2))
	for i := range a { // under each address alone
		cl := client(t, Cluster{Name: "x", BootstrapServers: a[i : i+1]})
		if id, err := ClusterID(t.Context(), cl); id != "one" || err != nil {
			t.Errorf("id %q, error %v", id, err)
		}
	}
	old := client(t, Cluster{Name: "x", BootstrapServers: a}, kgo.MaxVersions(kversion.V0_10_0()))
	if id, err := ClusterID(t.Context(), old); err == nil {
		t.Errorf("a client that cannot ask for the id got %q", id)
	}
}

func TestAdminAnswers(t *testing.T) {
	var admin *kadm.Client
	admin, err := Admin(Cluster{Name: "main", BootstrapServers: fake(t)}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	topics, err := admin.ListTopics(t.Context())
	if err != nil || !topics.Has("orders") {
		t.Errorf("topics %v, error %v", topics.Names(), err)
	}
}

// closedPort is an address at which nothing listens any more.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// What a broker says while it starts, moves things or is asked by two kinds of consumers is told as what it is.
func TestRepliesThatPassSaySo(t *testing.T) {
	for _, err := range []error{
		kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress, kerr.NotCoordinator, kerr.LeaderNotAvailable,
		kerr.NotLeaderForPartition,
	} {
		if reason, hint := Explain(fmt.Errorf("start offsets: %w", err)); !strings.Contains(hint, "this passes") {
			t.Errorf("%v: %q, %q", err, reason, hint)
		}
	}
	if reason, hint := Explain(kerr.InconsistentGroupProtocol); reason != "another consumer of this group speaks another protocol" || hint == "" {
		t.Errorf("%q, %q", reason, hint)
	}
}
