package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"
)

// progress tells on standard error what happens: a line for each thing done, and on a terminal one that changes for what
// is under way. Each says how long the bench has been at it, and at what.
type progress struct {
	live  bool
	open  bool // the last line is one that changes
	began time.Time
	at    string // the benchmark under way
}

func newProgress() *progress {
	return &progress{live: term.IsTerminal(int(os.Stderr.Fd())), began: time.Now(), at: "prepare"}
}

// stage names the benchmark that is under way from now on.
func (p *progress) stage(name string) { p.at = name }

// done tells something that has come to its end.
func (p *progress) done(format string, args ...any) {
	p.clear()
	fmt.Fprintf(os.Stderr, "%s %s\n", p.prefix(), fmt.Sprintf(format, args...))
}

// now tells what is under way.
func (p *progress) now(format string, args ...any) {
	if !p.live {
		return
	}
	p.clear()
	fmt.Fprintf(os.Stderr, "%s %s", p.prefix(), fmt.Sprintf(format, args...))
	p.open = true
}

func (p *progress) prefix() string {
	d := time.Since(p.began).Round(time.Second)
	return fmt.Sprintf("%2d:%02d [%s]", int(d.Minutes()), int(d.Seconds())%60, p.at)
}

func (p *progress) clear() {
	if p.open {
		fmt.Fprint(os.Stderr, "\r\033[K")
		p.open = false
	}
}
