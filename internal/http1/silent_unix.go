//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package http1

import (
	"errors"
	"syscall"
)

// silent says whether the connection is open and nothing has arrived on it. It takes nothing off it.
func silent(fd uintptr) bool {
	var b [1]byte
	_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
}
