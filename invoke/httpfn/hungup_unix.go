//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package httpfn

import (
	"errors"
	"syscall"
)

// hungUp says whether the other side has closed or reset the connection. It looks at what has arrived without taking
// it, beside the goroutine that waits in Read (Control takes no lock).
func hungUp(raw syscall.RawConn) bool {
	dead := false
	err := raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if err != nil {
			dead = !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
			return
		}
		dead = n == 0
	})
	return dead || err != nil
}
