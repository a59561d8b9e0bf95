package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/controller"
)

// binary is the path of bin/sluice as these tests build it, once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sluice-conformance-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "sluice")
	out, err := exec.Command("go", "build", "-o", path, "github.com/sluicehq/sluice/cmd/sluice").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// process is a running sluice.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  lockedBuffer
	done chan struct{}
	err  error
	// address is where its admin API listens.
	address string
}

// lockedBuffer is written by the process's pipe and read by the test.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends.
func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs sluice with a configuration until it is stopped, killed or ends by itself. It waits until it listens.
func start(t *testing.T, yaml string, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sluice.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, done: make(chan struct{})}
	p.cmd = exec.Command(path, append([]string{"run", "-f", file, "--session-timeout", "6s"}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("sluice said:\n%s", tail(p.log.String(), 60))
		}
	})
	p.until("it listens", 20*time.Second, func() bool {
		_, rest, ok := strings.Cut(p.log.String(), "listen=")
		if ok {
			p.address = strings.Fields(rest)[0]
		}
		return ok
	})
	return p
}

func tail(s string, lines int) string {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// until waits for a condition; the end of the process ends the wait.
func (p *process) until(what string, timeout time.Duration, done func() bool) {
	p.t.Helper()
	deadline := time.Now().Add(timeout)
	for !done() {
		select {
		case <-p.done:
			if !done() {
				p.t.Fatalf("sluice ended (%v) before: %s\n%s", p.err, what, tail(p.log.String(), 30))
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("waited %s for: %s", timeout, what)
		}
	}
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop is SIGTERM; it returns the exit code.
func (p *process) stop() int {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.wait(40 * time.Second)
}

// wait waits for the process to end by itself.
func (p *process) wait(timeout time.Duration) int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(timeout):
		p.t.Fatalf("sluice did not end within %s", timeout)
	}
	return p.cmd.ProcessState.ExitCode()
}

// status asks the admin API for the only mapping.
func (p *process) status() controller.MappingStatus {
	p.t.Helper()
	var s controller.Status
	p.get("/sluice/v1/status", &s)
	if len(s.Mappings) == 0 {
		p.t.Fatal("status knows no mapping")
	}
	return s.Mappings[0]
}

// get reads JSON from the admin API and returns the HTTP status.
func (p *process) get(path string, into any) int {
	p.t.Helper()
	resp, err := http.Get("http://" + p.address + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		p.t.Fatalf("%s: %v", path, err)
	}
	return resp.StatusCode
}

// cpu is what the process has used until now, as its metrics say.
func (p *process) cpu() time.Duration {
	p.t.Helper()
	resp, err := http.Get("http://" + p.address + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var seconds float64
		if _, err := fmt.Sscanf(line, "process_cpu_seconds_total %g", &seconds); err == nil {
			return time.Duration(seconds * float64(time.Second))
		}
	}
	p.t.Fatal("the metrics do not tell process_cpu_seconds_total")
	return 0
}
