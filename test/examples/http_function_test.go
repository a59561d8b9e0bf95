package examples

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// root is the repository's folder, in which the commands run.
const root = "../.."

func TestHTTPFunctionOnKfake(t *testing.T) {
	httpFunction(t, kafkatest.Fake(t, kafkatest.Options{}))
}

// httpFunction runs what examples/http-function/README.md says on the cluster.
func httpFunction(t *testing.T, kafka *kafkatest.Cluster) {
	const example = "examples/http-function/"
	bin, address, function := t.TempDir(), kafka.Bootstrap()[0], free(t)
	config := substitute(t, root+"/"+example+"sluice.yaml", map[string]string{
		"localhost:9092": address, "127.0.0.1:9000": function,
		"clusters:": fmt.Sprintf("server: {listen: \"%s\"}\nclusters:", free(t)),
	})
	yaml := filepath.Join(bin, "sluice.yaml")
	if err := os.WriteFile(yaml, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	script := commands(t, root+"/"+example+"README.md", map[string]string{
		"make build":            "go build -o bin/sluice ./cmd/sluice",
		"127.0.0.1:9000":        function,
		example + "sluice.yaml": yaml,
		"bin/http-function &":   "bin/http-function -listen " + function + " &",
		"bin/orders ":           "bin/orders -bootstrap-servers " + address + " ",
	})
	script = strings.ReplaceAll(script, "bin/", bin+"/") + "\nkill $!; wait $!\n"
	out := bash(t, script)
	for _, want := range []string{
		`wrote 1000 orders; the one at orders-\d+@\d+ cannot be read`,
		`orders-\d+@\d+: invalid character`,
		`everything that was there at start is settled`,
		`(?m)^\{"batches":\d+,"orders":999,"amount":2497.5\}$`,
		`this is no order`, `sluice-topic: orders`, `sluice-condition: RetryAttemptsExhausted`, `sluice-attempts: 3`,
		`ended with \{"batches":`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in the output", want)
		}
	}
	kafka.WaitLagZero(record.GroupID("sluice-orders"), []string{"orders"}, 10*time.Second)
	if t.Failed() {
		t.Logf("%s\n---\n%s", script, out)
	}
}

var block = regexp.MustCompile("(?s)```sh\n(.*?)```")

// commands are those of a README's shell blocks, with other addresses.
func commands(t *testing.T, readme string, others map[string]string) string {
	t.Helper()
	var script strings.Builder
	for _, b := range block.FindAllStringSubmatch(substitute(t, readme, others), -1) {
		script.WriteString(b[1])
	}
	return script.String()
}

// substitute reads a file with some of its text replaced. What is not there to replace is a mistake of the test.
func substitute(t *testing.T, file string, others map[string]string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	var pairs []string
	for from, to := range others {
		if !strings.Contains(text, from) {
			t.Fatalf("%s does not say %q any more", file, from)
		}
		pairs = append(pairs, from, to)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// bash runs a script in the repository's folder and returns what it wrote.
func bash(t *testing.T, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = root
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	return string(out)
}

// free is an address that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was only to find the port
	return l.Addr().String()
}
