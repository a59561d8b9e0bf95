package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program of the bench that runs beside others until it is stopped.
type process struct {
	cmd   *exec.Cmd
	name  string
	stdin io.Closer // closed to end a helper; nil of a subject, which gets SIGTERM
	log   *logTail
	once  sync.Once
	err   error
}

// stopTimeout is how long a process may take to end.
const stopTimeout = 40 * time.Second

// startHelper starts a program that prints its address as its first line and ends with its standard input.
func (b *bench) startHelper(ctx context.Context, name string, args ...string) (*process, string, error) {
	p := &process{cmd: exec.CommandContext(ctx, b.program(name), args...), name: name, log: &logTail{}}
	p.cmd.Stderr = p.log
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, "", err
	}
	p.stdin = stdin
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("%s did not start", name), err, p.stop())
	}
	return p, strings.TrimSpace(line), nil
}

// startSubject starts a program that runs until SIGTERM.
func (b *bench) startSubject(ctx context.Context, c *command) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, filepath.Join(b.dir, c.program), c.args...), name: c.program, log: &logTail{}}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	return p, p.cmd.Start()
}

// stop ends the process and waits for it. A second call changes nothing.
func (p *process) stop() error {
	p.once.Do(func() {
		if p.stdin != nil {
			_ = p.stdin.Close()
		} else {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
		}
		kill := time.AfterFunc(stopTimeout, func() { _ = p.cmd.Process.Kill() })
		defer kill.Stop()
		var exit *exec.ExitError
		p.err = p.cmd.Wait()
		if errors.As(p.err, &exit) && !exit.Exited() {
			p.err = nil // it ends by the signal: the loop has no drain, and some are killed
		}
		if p.err != nil {
			p.err = fmt.Errorf("%s: %w\n%s", p.name, p.err, p.log)
		}
	})
	return p.err
}

// kill ends the process at once.
func (p *process) kill() error {
	_ = p.cmd.Process.Kill()
	return p.stop()
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// logTail keeps the end of what a process logs.
type logTail struct {
	mu   sync.Mutex
	text []byte
}

// logBytesMax bounds what is kept.
const logBytesMax = 64 << 10

// Write is io.Writer's.
func (l *logTail) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, text...)
	if over := len(l.text) - logBytesMax; over > 0 {
		l.text = bytes.Clone(l.text[over:])
	}
	return len(text), nil
}

// String returns the last lines.
func (l *logTail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return tail(string(l.text), 20)
}

func tail(text string, lines int) string {
	all := strings.SplitAfter(text, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}
