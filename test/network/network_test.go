package network_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/network"
)

// echo is a server that sends lines back.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

type client struct {
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, l *network.Link) client {
	t.Helper()
	c, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return client{c, bufio.NewReader(c)}
}

// ask sends a line and waits for it to come back.
func (c client) ask(patience time.Duration) error {
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write([]byte("hello, is anybody there?\n")); err != nil {
		return err
	}
	_, err := c.r.ReadString('\n')
	return err
}

const (
	patience   = 10 * time.Second
	impatience = 200 * time.Millisecond
)

func TestFaults(t *testing.T) {
	silent := func(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
	ended := func(err error) bool {
		return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	}
	well := func(err error) bool { return err == nil }
	cases := []struct {
		fault network.Fault
		// old and fresh are what connections of before and of afterwards meet; later is what the old ones do when
		// all is healed.
		old, fresh, later func(error) bool
	}{
		{network.Latency(20*time.Millisecond, 10*time.Millisecond), well, well, well},
		{network.Bandwidth(10), well, well, well},
		{network.Slices(4, 100*time.Microsecond), well, well, well},
		{network.Cut(), ended, well, ended},
		{network.Reset(), ended, well, ended},
		{network.Refuse(), ended, nil, ended},
		{network.Blackhole(), silent, silent, ended},
		{network.Stall(), silent, silent, well},
		{network.Forget(), silent, well, silent},
	}
	for _, c := range cases {
		t.Run(c.fault.Name, func(t *testing.T) {
			l, err := network.Open("127.0.0.1:0", echo(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(l.Close)
			old := dial(t, l)
			if err := old.ask(patience); err != nil {
				t.Fatal(err)
			}
			if err := l.Impair(c.fault); err != nil {
				t.Fatal(err)
			}
			wait := patience
			if silent(os.ErrDeadlineExceeded) == c.old(os.ErrDeadlineExceeded) {
				wait = impatience
			}
			if err := old.ask(wait); !c.old(err) {
				t.Errorf("a connection of before: %v", err)
			}
			if c.fresh == nil {
				if _, err := net.Dial("tcp", l.Address()); !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("a connection of now: %v", err)
				}
			} else {
				wait = patience
				if c.fresh(os.ErrDeadlineExceeded) {
					wait = impatience
				}
				if err := dial(t, l).ask(wait); !c.fresh(err) {
					t.Errorf("a connection of now: %v", err)
				}
			}
			if err := l.Heal(); err != nil {
				t.Fatal(err)
			}
			if err := dial(t, l).ask(patience); err != nil {
				t.Errorf("a connection of afterwards: %v", err)
			}
			wait = patience
			if c.later(os.ErrDeadlineExceeded) {
				wait = impatience
			}
			if err := old.ask(wait); !c.later(err) {
				t.Errorf("a connection of before, afterwards: %v", err)
			}
		})
	}
}
