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

// sharing says that Main runs.
var sharing bool

// common is a Kafka that the tests of this binary have in common.
type common struct {
	once sync.Once
	dir  string
	real *broker.Cluster
	err  error
}

// one and three are those of as many brokers.
var one, three common

// Main runs the tests of a binary that uses Shared or SharedThree, and stops the shared Kafkas afterwards:
//
//	func TestMain(m *testing.M) { kafkatest.Main(m) }
func Main(m *testing.M) {
	sharing = true
	code := m.Run()
	for _, k := range []*common{&one, &three} {
		if k.real != nil {
			if err := k.real.Close(); err != nil {
				fmt.Fprintln(os.Stderr, "stop kafka:", err)
				code = 1
			}
		}
		if k.dir != "" {
			_ = os.RemoveAll(k.dir)
		}
	}
	os.Exit(code)
}

// Shared is a real Kafka of one broker and DefaultVersion that all tests of the binary share; the first one starts
// it. It needs Main. Names of topics and groups should come from Name.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	return one.get(t, 1)
}

// SharedThree is Shared with three brokers, for tests that do not run beside others. Brokers that an earlier test left
// dead or frozen run again.
func SharedThree(t testing.TB) *Cluster {
	t.Helper()
	c := three.get(t, 3)
	for id := 1; id <= 3; id++ {
		if !c.real.Running(id) {
			c.Restart(id)
		}
		c.Thaw(id)
	}
	return c
}

func (k *common) get(t testing.TB, brokers int) *Cluster {
	t.Helper()
	if !sharing {
		t.Fatal("a shared Kafka needs func TestMain(m *testing.M) { kafkatest.Main(m) } in this package")
	}
	k.once.Do(func() {
		k.dir = scratch(t)
		k.real, k.err = start(context.Background(), Options{Brokers: brokers, Proxied: true}, k.dir)
	})
	if k.err != nil {
		t.Fatal(k.err)
	}
	return serve(t, k.real)
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
