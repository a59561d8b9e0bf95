package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/config"
)

func TestInitWritesAFileThatLoads(t *testing.T) {
	cases := map[string]config.InitOptions{
		"with nothing said": {},
		"with everything said": {
			Name: "on", BootstrapServers: []string{"b1:9093", "[::1]:9093"}, Topics: []string{"orders", "returns"},
			URL: "https://orders.example.com/?a=b", DeadLetterTopic: "orders-dlq", CAFile: "my ca.pem", Mechanism: config.ScramSHA512, Username: `do"main\svc: #1`,
		},
		"with braces and TLS by the system": {URL: "http://127.0.0.1/?q=${x}", TLS: true, Topics: []string{"~^orders-[0-9]+$"}},
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"SLUICE_KAFKA_PASSWORD": "p"}
			text, err := config.Init(o)
			if err != nil {
				t.Fatal(err)
			}
			ca, _ := certificate()
			c, err := config.Parse("sluice.yaml", text, config.Options{
				LookupEnv: func(n string) (string, bool) { v, ok := env[n]; return v, ok },
				ReadFile:  func(string) ([]byte, error) { return ca, nil },
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			m := c.Mappings[0]
			if o.Topics != nil && strings.Join(m.Topics, " ") != strings.Join(o.Topics, " ") {
				t.Errorf("got topics %q, want %q", m.Topics, o.Topics)
			}
			if f := c.Functions[m.Function]; o.URL != "" && f.URL != o.URL {
				t.Errorf("got URL %q, want %q", f.URL, o.URL)
			}
			if o.DeadLetterTopic != "" && m.OnFailure.URI != "kafka://"+o.DeadLetterTopic {
				t.Errorf("got destination %q", m.OnFailure.URI)
			}
			if o.Username != "" && (c.Clusters["main"].SASL.Username != o.Username || c.Clusters["main"].SASL.Password.Reveal() != "p") {
				t.Errorf("got SASL %+v", c.Clusters["main"].SASL)
			}
		})
	}
}

func TestInitRefusesWhatCannotBe(t *testing.T) {
	_, err := config.Init(config.InitOptions{BootstrapServers: []string{"broker1"}, URL: "ftp://host/"})
	var all config.Errors
	if !errors.As(err, &all) || len(all) != 2 {
		t.Errorf("got %v, want two mistakes", err)
	}
}
