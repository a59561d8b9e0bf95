package broker

import "syscall"

// ownGroup puts a child into a process group of its own, and has it killed when we end.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
