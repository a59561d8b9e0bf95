package main

import (
	"fmt"
	"os"

	"golang.org/x/term"
)

// progress tells on standard error what happens: a line for each thing done, and on a terminal one that changes for what
// is under way.
type progress struct {
	live bool
	open bool // the last line is one that changes
}

func newProgress() *progress { return &progress{live: term.IsTerminal(int(os.Stderr.Fd()))} }

// done tells something that has come to its end.
func (p *progress) done(format string, args ...any) {
	p.clear()
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// now tells what is under way.
func (p *progress) now(format string, args ...any) {
	if !p.live {
		return
	}
	p.clear()
	fmt.Fprintf(os.Stderr, format, args...)
	p.open = true
}

func (p *progress) clear() {
	if p.open {
		fmt.Fprint(os.Stderr, "\r\033[K")
		p.open = false
	}
}
