//go:build !linux

package broker

import "syscall"

// ownGroup puts a child into a process group of its own. It outlives us if we are killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
