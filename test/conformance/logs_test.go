package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
)

// A disk without room for the log, and a log that nobody reads, stop neither records nor the end of the process. /dev/full
// answers every write as a full disk does; the pipe is full from the beginning.
func TestALogThatCannotBeWrittenStopsNothing(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (*os.File, error){
		"a full disk": func() (*os.File, error) { return os.OpenFile("/dev/full", os.O_WRONLY, 0) },
		"a pipe that nobody reads": func() (*os.File, error) {
			r, w, err := os.Pipe()
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { r.Close() })
			_ = w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			for err == nil { // until it is full
				_, err = w.Write(make([]byte, 4096))
			}
			return w, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			stderr, err := open()
			if err != nil {
				t.Skip(err)
			}
			defer stderr.Close()
			c := kafkatest.Fake(t, kafkatest.Options{})
			r := newRig(t, c, 3, function.Script{Seed: 1, Rules: []function.Rule{{Action: function.Fail, Share: 0.5}}})
			const records = 900
			r.produce(3, records)
			file := filepath.Join(t.TempDir(), "sluice.yaml")
			yaml := r.yaml(fast, "batchSize: 1", "retry: {initialBackoff: 1ms, maximumBackoff: 2ms}", "pollerLimits: {throughput: unlimited}")
			yaml = strings.Replace(yaml, "timeout: 5s", "timeout: 5s, outageProtection: off", 1)
			if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, "run", "-f", file, "--log-level", "debug")
			cmd.Stderr = stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			r.settled(60 * time.Second)
			_ = cmd.Process.Signal(syscall.SIGTERM)
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(30 * time.Second):
				_ = cmd.Process.Kill()
				t.Error("it did not end within 30 s")
			}
			if report := r.judge(); report.Taken != records {
				t.Errorf("%d taken of %d", report.Taken, records)
			}
		})
	}
}
