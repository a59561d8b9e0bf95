package kafka

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// However a cluster is shown, its password is not in it.
func TestThePasswordIsNeverShown(t *testing.T) {
	const password = "hunter2-Ünïcode"
	c := Cluster{
		Name: "main", BootstrapServers: []string{"127.0.0.1:9092"}, TLS: &TLS{},
		SASL: &SASL{Mechanism: ScramSHA512, Username: "svc", Password: Text(password)},
	}
	shown := map[string]string{"String": c.String(), "an error": fmt.Errorf("%w: %v", errors.New("x"), *c.SASL).Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%10.3s"} {
		for name, v := range map[string]any{
			"cluster": c, "&cluster": &c, "sasl": *c.SASL, "&sasl": c.SASL, "password": c.SASL.Password,
			"in a slice": []any{c, c.SASL}, "in a map": map[string]SASL{"x": *c.SASL},
		} {
			shown[verb+" of "+name] = fmt.Sprintf(verb, v)
		}
	}
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var b bytes.Buffer
		slog.New(handler(&b)).Info("x", "cluster", c, "sasl", *c.SASL, "pointer", c.SASL, "password", c.SASL.Password)
		shown["slog "+name] = b.String()
	}
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	shown["JSON"] = string(asJSON)
	asYAML, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	shown["YAML"] = string(asYAML)
	hex := fmt.Sprintf("%x", password)
	for name, text := range shown {
		for _, leak := range []string{password, hex, strings.ToUpper(hex), password[:3]} {
			if strings.Contains(text, leak) {
				t.Errorf("%s shows %q: %s", name, leak, text)
			}
		}
	}
	if want := "main (127.0.0.1:9092, TLS, SCRAM-SHA-512 as svc)"; c.String() != want {
		t.Errorf("String: %s, want %s", c.String(), want)
	}
	if got := fmt.Sprint(c.SASL.Password); got != Hidden {
		t.Errorf("a password prints as %q, want %q", got, Hidden)
	}
	if got := fmt.Sprint(Secret(nil)); got != "" {
		t.Errorf("a missing password prints as %q, want nothing", got)
	}
}
