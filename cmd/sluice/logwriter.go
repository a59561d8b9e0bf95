package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// logWriter hands lines of log on to a writer, and never waits for it: a disk that is full, or a pipe that nobody reads,
// must not stop records. Lines that find no room are dropped, and how many they were is told when there is room again.
type logWriter struct {
	out  io.Writer
	wake chan struct{} // signals that lines wait
	done chan struct{} // closed when everything is written, after close

	mu      sync.Mutex
	lines   [][]byte // guarded by mu, as all below
	bytes   int
	dropped int
	closed  bool
}

const (
	// logBufferMax bounds the lines that wait to be written, in bytes.
	logBufferMax = 1 << 20
	// logFlush is how long the end of the process waits for them.
	logFlush = time.Second
)

func newLogWriter(out io.Writer) *logWriter {
	w := &logWriter{out: out, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run()
	return w
}

// Write takes one line. It never fails.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	if w.closed || w.bytes+len(line) > logBufferMax {
		w.dropped++
	} else {
		w.lines = append(w.lines, append([]byte(nil), line...))
		w.bytes += len(line)
	}
	w.mu.Unlock()
	w.signal()
	return len(line), nil
}

func (w *logWriter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes until close, one line at a time: what the writer cannot take of one, the next does not suffer from.
func (w *logWriter) run() {
	defer close(w.done)
	for {
		line, dropped, closed := w.next()
		switch {
		case dropped > 0:
			_, _ = fmt.Fprintf(w.out, "sluice: %d lines of log were dropped, as nobody took them\n", dropped)
		case line != nil:
			_, _ = w.out.Write(line)
		case closed:
			return
		default:
			<-w.wake
		}
	}
}

// next is the line to be written, or how many were dropped behind those that were.
func (w *logWriter) next() (line []byte, dropped int, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lines) > 0 {
		line, w.lines[0] = w.lines[0], nil
		w.lines = w.lines[1:]
		w.bytes -= len(line)
		return line, 0, false
	}
	dropped, w.dropped = w.dropped, 0
	w.lines = nil
	return nil, dropped, w.closed
}

// close waits until everything is written, but not for long.
func (w *logWriter) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	select {
	case <-w.done:
	case <-time.After(logFlush):
	}
}
