package config_test

import (
	"testing"

	"github.com/sluicehq/sluice/config"
)

func TestValuesHavePlaces(t *testing.T) {
	text := `clusters:
  main:
    bootstrapServers: [ "a:1", "${HOST}" ]
functions:
  f: {url: "http://h/"}
defaults:
  topics: [one, two]
mappings:
  - name: m
    function: f
    cluster: main
`
	c, err := config.Parse("f.yaml", []byte(text), config.Options{LookupEnv: func(string) (string, bool) { return "b:2", true }})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		got  config.Where
		want string
	}{
		{c.ClusterAt("main", "bootstrapServers[1]"), "f.yaml:3:32: clusters.main.bootstrapServers[1]: x; hint"},
		{c.ClusterAt("main", "sasl.password"), "f.yaml:2:3: clusters.main.sasl.password: x; hint"},
		{c.ClusterAt("main", "bootstrapServers[7]"), "f.yaml:3:23: clusters.main.bootstrapServers[7]: x; hint"},
		{c.FunctionAt("f", "url"), "f.yaml:5:12: functions.f.url: x; hint"},
		{c.MappingAt("m", ""), "f.yaml:9:5: mappings[0]: x; hint"},
		{c.MappingAt("m", "topics[1]"), "f.yaml:7:17: mappings[0].topics[1]: x; hint"},
		{c.MappingAt("nobody", "topics[1]"), ": mappings.nobody.topics[1]: x; hint"},
	} {
		if got := w.got.Problem("hint", "x").Error(); got != w.want {
			t.Errorf("got %q, want %q", got, w.want)
		}
	}
	if got := c.ClusterAt("main", "bootstrapServers[0]").Quote("a:1"); got != `"a:1"` {
		t.Errorf("got %s", got)
	}
	if got := c.ClusterAt("main", "bootstrapServers[1]").Quote("b:2"); got != "${HOST}" {
		t.Errorf("got %s, want what is written", got)
	}
}
