package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// stuck blocks until it is released.
type stuck struct {
	release chan struct{}
	mu      sync.Mutex
	bytes.Buffer
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.release
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(p)
}

// A pipe that nobody reads holds nobody up; what it cannot hold is dropped, and told.
func TestALogThatNobodyTakesHoldsNobodyUp(t *testing.T) {
	out := &stuck{release: make(chan struct{})}
	w := newLogWriter(out)
	line := []byte(strings.Repeat("x", 99) + "\n")
	const lines = 50_000
	for range lines {
		if n, err := w.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	w.mu.Lock()
	if w.bytes > logBufferMax {
		t.Errorf("%d bytes wait", w.bytes)
	}
	w.mu.Unlock()
	close(out.release)
	w.close()
	<-w.done
	text := out.String()
	kept := strings.Count(text, string(line))
	if want := fmt.Sprintf("%d lines of log were dropped", lines-kept); kept < logBufferMax/len(line) || !strings.Contains(text, want) {
		t.Errorf("%d lines kept; want the line %q at the end: %q", kept, want, text[len(text)-120:])
	}
}

// The end of the process does not wait for it for ever, and a writer that fails costs its lines alone.
func TestALogThatFails(t *testing.T) {
	w := newLogWriter(&stuck{release: make(chan struct{})})
	_, _ = w.Write([]byte("x\n"))
	began := time.Now()
	w.close()
	if took := time.Since(began); took < logFlush {
		t.Errorf("closed after %s", took)
	}
	full := &failing{}
	w = newLogWriter(full)
	for i := range 10 {
		_, _ = fmt.Fprintf(w, "line %d\n", i)
	}
	w.close()
	if full.calls != 10 {
		t.Errorf("tried %d lines of 10", full.calls)
	}
}

type failing struct{ calls int }

func (f *failing) Write([]byte) (int, error) {
	f.calls++
	return 0, errors.New("no space left on device")
}
