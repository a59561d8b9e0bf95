package kafka

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var quiet = slog.New(slog.DiscardHandler)

func TestBadClustersNameEveryField(t *testing.T) {
	ca, other := newAuthority(t, "ca"), newAuthority(t, "other")
	hour := time.Now().Add(time.Hour)
	certFile, keyFile := ca.issue("client", hour)
	_, otherKey := other.issue("other", hour)
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty := file("empty.pem", "")
	locked := file("locked.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")
	one := []string{"127.0.0.1:9092"}

	for _, c := range []struct {
		name    string
		cluster Cluster
		want    []string
	}{
		{"no address", Cluster{}, []string{"cluster main: bootstrapServers: at least one"}},
		{"an empty address", Cluster{BootstrapServers: []string{"a:1", ""}}, []string{"bootstrapServers"}},
		{
			"an unknown mechanism, nobody and no password at once",
			Cluster{BootstrapServers: one, SASL: &SASL{Mechanism: "SCRAM"}},
			[]string{`sasl.mechanism "SCRAM": allowed are PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, AWS_MSK_IAM`, "sasl.username", "sasl.password"},
		},
		{
			"a certificate without key",
			Cluster{BootstrapServers: one, TLS: &TLS{CertFile: certFile}},
			[]string{`tls.certFile "` + certFile + `" and tls.keyFile ""`},
		},
		{
			"a key without certificate",
			Cluster{BootstrapServers: one, TLS: &TLS{KeyFile: keyFile}},
			[]string{`tls.keyFile "` + keyFile + `"`},
		},
		{
			"files that are not there",
			Cluster{BootstrapServers: one, TLS: &TLS{CAFile: dir + "/a", CertFile: dir + "/b", KeyFile: dir + "/c"}},
			[]string{
				`tls.caFile "` + dir + `/a": no such file`, `tls.certFile "` + dir + `/b": no such file`,
				`tls.keyFile "` + dir + `/c": no such file`,
			},
		},
		{
			"an authority file without certificate",
			Cluster{BootstrapServers: one, TLS: &TLS{CAFile: empty}},
			[]string{`tls.caFile "` + empty + `": holds no PEM certificate`},
		},
		{
			"a key of another certificate",
			Cluster{BootstrapServers: one, TLS: &TLS{CertFile: certFile, KeyFile: otherKey}},
			[]string{`tls.certFile "` + certFile + `" with tls.keyFile "` + otherKey + `"`, "does not match"},
		},
		{
			"an encrypted key",
			Cluster{BootstrapServers: one, TLS: &TLS{CertFile: certFile, KeyFile: locked}},
			[]string{`tls.keyFile "` + locked + `": the key is encrypted`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cluster.Name = "main"
			cl, err := NewClient(c.cluster, quiet)
			if err == nil {
				cl.Close()
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if _, err := Admin(c.cluster, quiet); err == nil {
				t.Error("Admin has no error")
			}
		})
	}
}

func TestAPasswordInTheClearIsWarnedOf(t *testing.T) {
	var b strings.Builder
	log := slog.New(slog.NewTextHandler(&b, nil))
	c := Cluster{
		Name: "main", BootstrapServers: []string{"127.0.0.1:9092"},
		SASL: &SASL{
			Username: "svc", Password: Text("pw"), IAM: &IAM{},
			OAuth: &OAuth{TokenEndpointURL: "http://127.0.0.1:1/", ClientID: "svc", ClientSecret: Text("pw")},
		},
	}
	for _, mechanism := range Mechanisms() {
		c.SASL.Mechanism = mechanism
		cl, err := NewClient(c, log)
		if err != nil {
			t.Fatal(err)
		}
		cl.Close()
	}
	if n := strings.Count(b.String(), "in the clear"); n != 2 {
		t.Errorf("%d warnings, want two, for PLAIN and OAUTHBEARER without TLS: %s", n, b.String())
	}
}

// The client's chatter below warnings stays out of the log, whatever the level of the log.
func TestOnlyWarningsOfTheClientAreLogged(t *testing.T) {
	var b strings.Builder
	log := slog.New(newClientLog(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log.With("a", 1).WithGroup("g").Info("chatter")
	log.With("a", 1).WithGroup("g").Warn("trouble")
	if got := b.String(); strings.Contains(got, "chatter") || !strings.Contains(got, "trouble") {
		t.Errorf("logged %q", got)
	}
}

func TestExplainKnowsNoError(t *testing.T) {
	if reason, hint := Explain(nil); reason != "" || hint != "" {
		t.Errorf("nil is %q, %q", reason, hint)
	}
	if reason, _ := Explain(errors.New("x")); reason != "the Kafka request failed" {
		t.Errorf("an unknown error is %q", reason)
	}
}

// Fault 107: the error log of a trouble that goes on has at most a line in 10 s.
func TestATroubleThatGoesOnIsLoggedOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		log := slog.New(newClientLog(slog.NewTextHandler(&b, nil))).With("cluster", "main")
		for range 250 {
			log.Error("unable to dial", "broker", "seed_0", "err", "refused")
			time.Sleep(100 * time.Millisecond)
		}
		log.Error("unable to dial", "broker", "seed_1", "err", "refused")
		if n := strings.Count(b.String(), "seed_0"); n != 3 {
			t.Errorf("25 s of the same trouble gave %d lines", n)
		}
		if !strings.Contains(b.String(), "not_logged=99") || !strings.Contains(b.String(), "seed_1") {
			t.Errorf("log:\n%s", b.String())
		}
	})
}
