//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package httpfn

import "syscall"

// hungUp cannot tell here: the write will.
func hungUp(syscall.RawConn) bool { return false }
