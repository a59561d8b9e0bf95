package connect

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/config"
)

// fake starts kfake and returns its address.
func fake(t *testing.T, opts ...kfake.Opt) string {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(2, "orders", "orders-dlq", "returns")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()[0]
}

// function is one that must not be invoked.
func function(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the function was invoked") }))
	t.Cleanup(server.Close)
	return server.URL
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // that is the point
	return l.Addr().String()
}

// check writes a configuration as sluice.yaml and returns what Check says of it, without the folder.
func check(t *testing.T, text string, o Options) []string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "sluice.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load([]string{file}, config.Options{LookupEnv: func(string) (string, bool) { return "s3cret", true }})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range Check(t.Context(), c, o) {
		lines = append(lines, strings.ReplaceAll(e.Error(), dir+string(filepath.Separator), ""))
	}
	return lines
}

// expect compares problems with the words that each must have, in order.
func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := range got {
		ok = ok && strings.Contains(got[i], want[i])
		if strings.Contains(got[i], "s3cret") || strings.Contains(got[i], "\n") {
			t.Errorf("a line that may not be: %q", got[i])
		}
	}
	if !ok {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

const mappings = `mappings:
  - name: orders
    function: f
    cluster: main
    topics: [orders]
    destinationConfig: {onFailure: {destination: "kafka://orders-dlq"}}
`

func TestWhatIsRightIsNotComplainedOf(t *testing.T) {
	text := fmt.Sprintf(`clusters:
  main: {bootstrapServers: [%q]}
functions:
  f: {url: %q}
`, fake(t, kfake.NumBrokers(3)), function(t))
	expect(t, check(t, text+mappings+"  - {name: some, function: f, cluster: main, topics: [\"~^ret\"]}\n", Options{}))
}

func TestEachMistakeIsOneLine(t *testing.T) {
	broker, fn := fake(t), function(t)
	for _, c := range []struct{ name, text, want string }{
		{
			"a missing topic", `  - {name: m, function: f, cluster: main, topics: [orders, ordrs]}`,
			`sluice.yaml:6:60: mappings[0].topics[1]: topic "ordrs" does not exist on cluster main (nearest: "orders"); create it or correct the name`,
		},
		{
			"a missing topic without a near one", `  - {name: m, function: f, cluster: main, topics: [payments]}`,
			`sluice.yaml:6:52: mappings[0].topics[0]: topic "payments" does not exist on cluster main; create it or correct the name`,
		},
		{
			"a topic from outside the file", `  - {name: m, function: f, cluster: main, topics: ["${TOPIC}"]}`,
			`sluice.yaml:6:52: mappings[0].topics[0]: topic ${TOPIC} does not exist on cluster main; create it or correct the name`,
		},
		{
			"an expression without topics", `  - {name: m, function: f, cluster: main, topics: ["~^pay"]}`,
			`sluice.yaml:6:52: mappings[0].topics[0]: "~^pay" matches no topic of cluster main that an anonymous client may see; create one, grant Describe on them, or correct the expression`,
		},
		{
			"a missing dead-letter topic", `  - {name: m, function: f, cluster: main, topics: [orders], destinationConfig: {onFailure: {destination: "kafka://order-dlq"}}}`,
			`sluice.yaml:6:106: mappings[0].destinationConfig.onFailure.destination: topic "order-dlq" does not exist on cluster main (nearest: "orders-dlq"); create it or correct the name`,
		},
		{
			"the source under another cluster's name", `  - {name: m, function: f, cluster: main, topics: [orders], destinationConfig: {onFailure: {destination: "kafka://same/orders"}}}`,
			`sluice.yaml:6:106: mappings[0].destinationConfig.onFailure.destination: is a topic that the mapping reads, on the same cluster: it would be fed its own dead letters; name another topic`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf("clusters:\n  main: {bootstrapServers: [%q]}\n  same: {bootstrapServers: [%q]}\nfunctions: {f: {url: %q}}\nmappings:\n%s\n", broker, broker, fn, c.text)
			got := check(t, text, Options{})
			if len(got) != 1 || got[0] != c.want {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), c.want)
			}
		})
	}
}

func TestAClusterThatCannotBeReachedIsSaidOnce(t *testing.T) {
	closed := closedPort(t)
	text := fmt.Sprintf("clusters:\n  main: {bootstrapServers: [%q]}\n  half: {bootstrapServers: [%q, %q]}\nfunctions: {f: {url: %q}}\n", closed, fake(t), closed, function(t))
	expect(t, check(t, text+mappings+"  - {name: other, function: f, cluster: half, topics: [returns]}\n", Options{}),
		fmt.Sprintf(`sluice.yaml:2:29: clusters.main.bootstrapServers[0]: %q: nothing listens on the brokers' port; check bootstrapServers`, closed),
		fmt.Sprintf(`sluice.yaml:3:48: clusters.half.bootstrapServers[1]: %q: nothing listens on the brokers' port`, closed),
	)
}

func TestADeadFunctionIsNamed(t *testing.T) {
	text := fmt.Sprintf("clusters:\n  main: {bootstrapServers: [%q]}\nfunctions: {f: {url: \"http://%s/?token=${TOKEN}\"}}\n", fake(t), closedPort(t))
	expect(t, check(t, text+mappings, Options{}),
		"sluice.yaml:3:22: functions.f.url: is not within reach: dial tcp 127.0.0.1:")
}

func TestMissingRightsAreNamed(t *testing.T) {
	right := func(kind kmsg.ACLResourceType, name string, op kmsg.ACLOperation) kfake.ACL {
		return kfake.ACL{Resource: kind, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: op, Allow: true}
	}
	broker := fake(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.User("PLAIN", "svc", "s3cret",
		right(kmsg.ACLResourceTypeTopic, "orders", kmsg.ACLOperationDescribe),
		right(kmsg.ACLResourceTypeTopic, "orders-dlq", kmsg.ACLOperationRead),
		right(kmsg.ACLResourceTypeGroup, "allowed", kmsg.ACLOperationRead),
	))
	text := fmt.Sprintf(`clusters:
  main: {bootstrapServers: [%q], sasl: {mechanism: PLAIN, username: svc, password: "${PASSWORD}"}}
functions: {f: {url: %q}}
`, broker, function(t))
	expect(t, check(t, text+mappings+"  - {name: other, function: f, cluster: main, topics: [returns], consumerGroupId: allowed}\n", Options{}),
		`mappings[0].consumerGroupId: user "svc" may not use consumer group "sluice-orders" on cluster main; grant Describe and Read on the group`,
		`mappings[0].topics[0]: user "svc" may not read topic "orders" on cluster main; grant Describe and Read on the topic`,
		`destination: user "svc" may not write to topic "orders-dlq" on cluster main; grant Describe and Write on the topic`,
		`mappings[1].topics[0]: user "svc" may not see topic "returns" on cluster main, if there is one; grant Describe and Read on the topic, or correct the name`,
	)
}

// certificate makes one that signs itself and ends at notAfter, and returns its files and the TLS of a server with it.
func certificate(t *testing.T, notAfter time.Time) (certFile, keyFile string, server *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: notAfter.Add(-time.Hour), NotAfter: notAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func TestExpiredCertificatesAreNamed(t *testing.T) {
	expired, key, server := certificate(t, time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.TLS = server
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	text := fmt.Sprintf(`clusters:
  theirs: {bootstrapServers: [%q], tls: {caFile: %s}}
  ours: {bootstrapServers: [%q], tls: {certFile: %s, keyFile: %s}}
functions:
  theirs: {url: %q, tls: {caFile: %s}}
  ours: {url: "https://127.0.0.1:1/", tls: {certFile: %s, keyFile: %s}}
`, fake(t, kfake.TLS(server)), expired, closedPort(t), expired, key, secure.URL, expired, expired, key)
	expect(t, check(t, text, Options{}),
		"clusters.theirs.tls: \"127.0.0.1:", // and which broker
		"clusters.ours.tls.certFile: the certificate expired on 2026-01-31; renew it",
		"functions.theirs.url: is not within reach: tls: failed to verify certificate: x509: certificate has expired",
		"functions.ours.tls.certFile: the certificate expired on 2026-01-31; renew it",
	)
	got := check(t, text, Options{})
	if !strings.Contains(got[0], "the brokers' certificate has expired or is not valid yet; renew it") || !strings.Contains(got[2], "has expired or is not valid yet: renew it") {
		t.Errorf("got %s\n%s", got[0], got[2])
	}
}

func TestItEndsInTimeAndSaysWhatItWaitsFor(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() //nolint:errcheck // of a test
	var told []string
	text := fmt.Sprintf("clusters:\n  main: {bootstrapServers: [%q]}\nfunctions: {f: {url: %q}}\n", silent.Addr(), function(t))
	began := time.Now()
	got := check(t, text, Options{Timeout: 3 * time.Second, Progress: func(done, total int, waiting []string) {
		told = append(told, fmt.Sprint(done, total, waiting))
	}})
	expect(t, got, "the brokers do not answer")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
	if len(told) == 0 || told[0] != "1 2 [cluster main]" {
		t.Errorf("told %q", told)
	}
}

func TestItEndsWithItsContext(t *testing.T) {
	c, err := config.Parse("f.yaml", []byte("clusters: {main: {bootstrapServers: [\"127.0.0.1:1\"]}}\n"), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Check(ctx, c, Options{}); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}
