package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/config"
)

// configured is n mappings with a server block, and one more that is disabled.
func configured(t *testing.T, server string, n int) *config.Config {
	t.Helper()
	var b strings.Builder
	b.WriteString(server + "\nclusters: {c: {bootstrapServers: ['h:1']}}\nfunctions: {f: {url: 'http://h/'}}\nmappings:\n")
	for i := range n {
		fmt.Fprintf(&b, "- {name: m%d, cluster: c, function: f, topics: [t]}\n", i)
	}
	b.WriteString("- {name: off, cluster: c, function: f, topics: [t], enabled: false}\n")
	c, err := config.Parse("x.yaml", []byte(b.String()), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTooManyMappingsForTheLimitAreRefusedWithWhatIsNeeded(t *testing.T) {
	c := configured(t, "server: {memoryLimit: 64MiB}", 200)
	_, err := Of(c, Sources{Configured: c.Server.MemoryLimit})
	if err == nil {
		t.Fatal("accepted")
	}
	const place = "x.yaml:1:10: server.memoryLimit: 64 MiB (server.memoryLimit) is less than the "
	told, ok := strings.CutPrefix(err.Error(), place)
	var needed int64
	if n, _ := fmt.Sscanf(told, "%d MiB that 200 enabled mappings need at the least; set it to", &needed); !ok || n != 1 {
		t.Fatalf("it says: %v", err)
	}
	if _, err := Of(c, Sources{Configured: needed << 20}); err != nil {
		t.Errorf("what it asked for is not enough: %v", err)
	}
}

func TestAMachineThatIsTooSmallIsAWarning(t *testing.T) {
	s, err := Of(configured(t, "", 200), Sources{Machine: 128 << 20})
	if err != nil || !strings.Contains(s.Warning(), "64 MiB (half of the machine's 128 MiB) is less than") {
		t.Errorf("%v %v", s, err)
	}
}

func TestDisabledMappingsHaveNoShare(t *testing.T) {
	s, err := Of(configured(t, "", 1), Sources{Machine: 1 << 30})
	if err != nil || s.Buffer("off") != 0 || s.Buffer("m0") == 0 || s.Warning() != "" {
		t.Errorf("%+v %v", s, err)
	}
}
