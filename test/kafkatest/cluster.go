// Package kafkatest gives a test a Kafka: a real one, from package broker, or kfake in the test's own process, behind
// one type, so that a conformance suite runs alike on both.
//
// A test that needs real Kafka carries the build tag real; with it, a missing Java or Maven is a failure and no reason
// to skip. Start logs which version answers and where. kfake never stands in for a test that says real Kafka.
package kafkatest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/test/kafkatest/broker"
	"github.com/sluicehq/sluice/test/network"
)

// Options say which Kafka a test wants; the zero value is one broker of DefaultVersion.
type Options struct {
	Version    string            // of real Kafka, one of broker.Versions; DefaultVersion when empty
	Brokers    int               // 1 (default) or 3
	Secure     bool              // also open SASL and TLS listeners; see Address and Credentials; real Kafka only
	Proxied    bool              // also open a listener that is reached through Link; real Kafka only
	Properties map[string]string // server.properties that go beyond the quick defaults of package broker
	// Virtual connects kfake over memory, for tests in a bubble of testing/synctest, whose time stands still while
	// somebody waits for a real connection. Clients need ClientOptions.
	Virtual bool
}

// DefaultVersion is the version of real Kafka that a test gets which asks for none: what SLUICE_KAFKA_VERSION says, or
// the newest.
func DefaultVersion() string {
	if v := os.Getenv("SLUICE_KAFKA_VERSION"); v != "" {
		return v
	}
	return broker.Newest
}

// helperPatience is how long the helpers' client waits for a broker before it asks another: one may be frozen.
const helperPatience = 5 * time.Second

// requestTimeout bounds each request that a helper makes.
const requestTimeout = 30 * time.Second

// logLines is how many lines of each broker's log a failed test shows.
const logLines = 40

// Cluster is a Kafka for one test. Its methods fail the test instead of returning errors; they may be called from the
// test's own goroutine only, except those that say otherwise.
type Cluster struct {
	t    testing.TB
	real *broker.Cluster       // nil for kfake
	fake *kfake.Cluster        // nil for real Kafka
	net  *kfake.VirtualNetwork // nil but for Options.Virtual

	links []*network.Link // by broker, from 0; nil until they are needed

	once   sync.Once
	client *kgo.Client // made when first needed
	admin  *kadm.Client
}

// Start runs a real Kafka until the test ends.
func Start(t testing.TB, options Options) *Cluster {
	t.Helper()
	if options.Virtual {
		t.Fatal("kafkatest.Start: Virtual is for kfake")
	}
	dir := scratch(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	real, err := start(t.Context(), options, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := real.Close(); err != nil {
			t.Errorf("stop kafka: %v", err)
		}
	})
	return serve(t, real)
}

func start(ctx context.Context, options Options, dir string) (*broker.Cluster, error) {
	if options.Version == "" {
		options.Version = DefaultVersion()
	}
	return broker.Start(ctx, broker.Config{
		Version: options.Version, Brokers: options.Brokers, Secure: options.Secure, Proxied: options.Proxied, Properties: options.Properties,
		Dir: dir, Progress: os.Stderr,
	})
}

// serve wraps a running Kafka for a test, and says which it is.
func serve(t testing.TB, real *broker.Cluster) *Cluster {
	t.Helper()
	c := &Cluster{t: t, real: real}
	t.Logf("kafka %s at %s", c.Version(), strings.Join(c.Bootstrap(), ","))
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for id := 1; id <= real.Brokers(); id++ {
			t.Logf("broker %d complained at last:\n%s", id, real.Complaints(id, logLines))
		}
	})
	return c
}

// For is the same real Kafka for a subtest, which helpers then fail instead of the test that started it.
func (c *Cluster) For(t testing.TB) *Cluster {
	t.Helper()
	return serve(t, c.mustReal("For"))
}

// Fake runs kfake until the test ends. Secure and Version are refused: kfake has one listener, and is no version of
// Kafka.
func Fake(t testing.TB, options Options) *Cluster {
	t.Helper()
	if options.Secure || options.Proxied || options.Version != "" {
		t.Fatal("kafkatest.Fake: Secure, Proxied and Version are for real Kafka")
	}
	c := &Cluster{t: t}
	var listen []kfake.Opt
	if options.Virtual {
		c.net = &kfake.VirtualNetwork{}
		listen = append(listen, kfake.ListenFn(c.net.Listen))
	}
	fake, err := kfake.NewCluster(append(listen,
		kfake.NumBrokers(max(options.Brokers, 1)),
		kfake.GroupMinSessionTimeout(500*time.Millisecond),
		kfake.BrokerConfigs(map[string]string{
			"group.consumer.session.timeout.ms":    "6000",
			"group.consumer.heartbeat.interval.ms": "500",
			"group.share.session.timeout.ms":       "6000",
		}),
		kfake.BrokerConfigs(options.Properties),
	)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	c.fake = fake
	return c
}

// Real reports whether this is Apache Kafka itself.
func (c *Cluster) Real() bool { return c.real != nil }

// Kfake is the fake, for faults and control functions; nil on real Kafka.
func (c *Cluster) Kfake() *kfake.Cluster { return c.fake }

// Version is what the broker says it is; "kfake" for the fake.
func (c *Cluster) Version() string {
	c.t.Helper()
	if c.fake != nil {
		return "kfake"
	}
	version, err := c.real.Version()
	if err != nil {
		c.t.Fatal(err)
	}
	return version
}

// Bootstrap is where clients find the cluster without TLS or SASL. It may be called from any goroutine.
func (c *Cluster) Bootstrap() []string {
	if c.fake != nil {
		return c.fake.ListenAddrs()
	}
	return c.real.Addresses(broker.Plaintext)
}

// Address is where clients find the cluster on a listener; it needs Options.Secure for all but broker.Plaintext.
func (c *Cluster) Address(l broker.Listener) []string {
	c.t.Helper()
	addresses := c.mustReal("Address").Addresses(l)
	if addresses == nil {
		c.t.Fatalf("kafkatest: listener %v is not open; set Options.Secure", l)
	}
	return addresses
}

// Credentials are what the secure listeners want.
func (c *Cluster) Credentials() broker.Credentials {
	c.t.Helper()
	return c.mustReal("Credentials").Credentials()
}

// Kill ends a broker (1, 2, 3) with SIGKILL.
func (c *Cluster) Kill(id int) {
	c.t.Helper()
	c.must("kill broker", c.mustReal("Kill").Kill(id))
}

// StopBroker ends a broker in order.
func (c *Cluster) StopBroker(id int) {
	c.t.Helper()
	c.must("stop broker", c.mustReal("StopBroker").Stop(c.t.Context(), id))
}

// Restart starts a broker that was ended, on its old ports and data, and waits until it answers.
func (c *Cluster) Restart(id int) {
	c.t.Helper()
	c.must("restart broker", c.mustReal("Restart").Restart(c.t.Context(), id))
}

// Freeze makes a broker hang with its connections open, until Thaw.
func (c *Cluster) Freeze(id int) {
	c.t.Helper()
	c.must("freeze broker", c.mustReal("Freeze").Freeze(id))
}

// Thaw lets a frozen broker go on.
func (c *Cluster) Thaw(id int) {
	c.t.Helper()
	c.must("thaw broker", c.mustReal("Thaw").Thaw(id))
}

func (c *Cluster) mustReal(method string) *broker.Cluster {
	c.t.Helper()
	if c.real == nil {
		c.t.Fatalf("kafkatest: %s needs real Kafka; kfake has no processes and one listener", method)
	}
	return c.real
}

func (c *Cluster) must(what string, err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
}

// ClientOptions are what a client needs to find the cluster. It may be called from any goroutine.
func (c *Cluster) ClientOptions() []kgo.Opt {
	options := []kgo.Opt{kgo.SeedBrokers(c.Bootstrap()...)}
	if c.net != nil {
		options = append(options, kgo.Dialer(c.net.DialContext))
	}
	return options
}

// Client makes a client of the cluster that is closed when the test ends. It may be called from any goroutine.
func (c *Cluster) Client(options ...kgo.Opt) *kgo.Client {
	c.t.Helper()
	client, err := kgo.NewClient(append(c.ClientOptions(), options...)...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(client.Close)
	return client
}

// Admin is a client for what the helpers do not cover.
func (c *Cluster) Admin() *kadm.Client {
	c.t.Helper()
	c.once.Do(func() {
		opts := append(c.ClientOptions(), kgo.MetadataMinAge(50*time.Millisecond), kgo.RequestTimeoutOverhead(helperPatience), kgo.RecordPartitioner(chosenOrByKey()))
		if c.real == nil {
			c.client = c.Client(opts...)
		} else { // brokers may hang: Sluice's own clients leave them alone for a while
			client, err := kafka.NewClient(kafka.Cluster{Name: "test", BootstrapServers: c.Bootstrap()}, slog.New(slog.DiscardHandler), opts...)
			c.must("make a client", err)
			c.t.Cleanup(client.Close)
			c.client = client
		}
		c.admin = kadm.NewClient(c.client)
	})
	return c.admin
}

// context is for one request.
func (c *Cluster) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.t.Context(), requestTimeout)
}

// Name makes a topic or group name that no other test on a shared Kafka uses: what it is for, and the test's name.
func (c *Cluster) Name(what string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, c.t.Name())
	name := fmt.Sprintf("%s-%s", what, clean)
	return name[:min(len(name), 200)] // Kafka takes 249
}
