package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sluicehq/sluice/test/kafkatest/broker"
)

// shared is the one Kafka of this test binary that its tests may have in common.
var shared struct {
	main bool // Main runs
	once sync.Once
	dir  string
	real *broker.Cluster
	err  error
}

// Main runs the tests of a binary that uses Shared, and stops the shared Kafka afterwards:
//
//	func TestMain(m *testing.M) { kafkatest.Main(m) }
func Main(m *testing.M) {
	shared.main = true
	code := m.Run()
	if shared.real != nil {
		if err := shared.real.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "stop kafka:", err)
			code = 1
		}
	}
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// Shared is a real Kafka of one broker and DefaultVersion that all tests of the binary share; the first one starts
// it. It needs Main. Names of topics and groups should come from Name.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	if !shared.main {
		t.Fatal("kafkatest.Shared needs func TestMain(m *testing.M) { kafkatest.Main(m) } in this package")
	}
	shared.once.Do(func() {
		shared.dir = scratch(t)
		shared.real, shared.err = start(context.Background(), Options{Proxied: true}, shared.dir)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return serve(t, shared.real)
}

// scratchPrefix begins the names of scratch folders; the id of the process that made it follows.
const scratchPrefix = "sluice-kafka-"

// scratch makes a folder for a cluster's data, and removes those of processes that have died without doing so.
func scratch(t testing.TB) string {
	t.Helper()
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+"*"))
	for _, dir := range old {
		if abandoned(dir) {
			_ = os.RemoveAll(dir)
		}
	}
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", scratchPrefix, os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func abandoned(dir string) bool {
	name := strings.TrimPrefix(filepath.Base(dir), scratchPrefix)
	pid, err := strconv.Atoi(strings.SplitN(name, "-", 2)[0])
	return err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
