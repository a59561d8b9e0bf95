package broker

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"
)

func TestPropertiesOfThreeBrokers(t *testing.T) {
	var all []node
	for id := 1; id <= 3; id++ {
		all = append(all, node{id: id, controller: 100 + id, ports: map[Listener]int{Plaintext: 200 + id}, dir: "/data"})
	}
	got := properties(Config{Properties: map[string]string{"min.insync.replicas": "2"}}, all[1], all)
	for _, want := range []string{
		"node.id=2\n",
		"controller.quorum.voters=1@127.0.0.1:101,2@127.0.0.1:102,3@127.0.0.1:103\n",
		"listeners=PLAINTEXT://127.0.0.1:202,CONTROLLER://127.0.0.1:102\n",
		"advertised.listeners=PLAINTEXT://127.0.0.1:202\n",
		"offsets.topic.replication.factor=3\n",
		"min.insync.replicas=2\n", // what the test asked for wins
	} {
		if !strings.Contains(got, want) {
			t.Errorf("properties lack %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "sasl") {
		t.Errorf("SASL is not asked for:\n%s", got)
	}
}

func TestCertificatesVerify(t *testing.T) {
	c, err := makeCredentials(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	verify := func(ca, cert, key string) error {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		pem, err := os.ReadFile(ca)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		return err
	}
	if err := verify(c.CAFile, c.CertFile, c.KeyFile); err != nil {
		t.Errorf("the client's certificate: %v", err)
	}
	if err := verify(c.CAFile, c.serverKeystore, c.serverKeystore); err != nil {
		t.Errorf("the server's certificate: %v", err)
	}
	if err := verify(c.CAFile, c.OtherCertFile, c.OtherKeyFile); err == nil {
		t.Error("a stranger's certificate verified")
	}
}

func TestReportCountsDownloads(t *testing.T) {
	maven := `[INFO] Scanning for projects...
Downloading from central: http://repo/a.jar
[INFO] Downloaded from central: http://repo/a.jar (1.5 MB at 2.0 MB/s)
Downloaded from central: http://repo/b.pom (500 kB at 1 kB/s)
[ERROR] no such version
`
	var progress bytes.Buffer
	last := report(strings.NewReader(maven), "kafka 1", &progress)
	if want := "kafka 1: installed (2 files, 2 MB fetched)\n"; progress.String() != want {
		t.Errorf("progress %q, want %q", progress.String(), want)
	}
	if got := strings.Join(last, "|"); got != "[INFO] Scanning for projects...|[ERROR] no such version" {
		t.Errorf("last lines %q", got)
	}
}

func TestProcessIsKilledWithItsChildren(t *testing.T) {
	log := t.TempDir() + "/log"
	p, err := launch("sh", []string{"-c", "sleep 60 & echo started; wait"}, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.kill(); err != nil {
		t.Fatal(err)
	}
	if !p.exited() {
		t.Error("it has not ended")
	}
	if err := p.kill(); err != nil {
		t.Errorf("killed again: %v", err)
	}
}
