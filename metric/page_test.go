package metric

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/METRICS.md")

const metricsPage = "../docs/METRICS.md"

// TestUpToDateMetricsPage holds docs/METRICS.md against the catalog; `go test ./metric -update` rewrites it.
func TestUpToDateMetricsPage(t *testing.T) {
	want := markdown()
	if *update {
		if err := os.WriteFile(metricsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale; run: go test ./metric -run TestUpToDate -update", metricsPage)
	}
}

func markdown() string {
	var b strings.Builder
	b.WriteString(`<!-- Made by go test ./metric -update from metric/catalog.go; do not edit. -->
# Metrics

` + "`/metrics`" + ` serves these in Prometheus' text format, beside those of the Go runtime (` + "`go_…`" + `) and of the process
(` + "`process_…`" + `). Where CloudWatch has the same number for an event source mapping (namespace ` + "`AWS/Lambda`" + `), the name follows
CloudWatch's, and the third column gives it. Every series has the label ` + "`mapping`" + `; further labels stand in braces. A mapping
that is removed, and a partition that is no longer owned, leaves no series.

| metric | type | CloudWatch | meaning |
| --- | --- | --- | --- |
`)
	for _, e := range catalog {
		labels := ""
		if len(e.labels) > 0 {
			labels = "{" + strings.Join(e.labels, ",") + "}"
		}
		fmt.Fprintf(&b, "| `%s_%s%s` | %s | %s | %s |\n", Namespace, e.name, labels, e.kind, e.cloudWatch, e.help)
	}
	fmt.Fprintf(&b, "\nWithout the label `mapping`: `%s_build_info{version,commit}`. %s\n\n", Namespace, buildInfoHelp)
	b.WriteString("Of each Kafka client: `sluice_kafka_…{mapping,client,node_id}`, connections, bytes and buffers, as franz-go's kprom " +
		"names them. `client` says what it is for; the mapping is empty where it serves several.\n")
	return b.String()
}
