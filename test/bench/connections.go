package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// connections counts a process's open TCP connections to the brokers, as Linux tells them.
func connections(pid int, brokers []string) (int, error) {
	ports := map[uint64]bool{}
	for _, broker := range brokers {
		_, port, err := net.SplitHostPort(broker)
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return 0, err
		}
		ports[n] = true
	}
	own, err := sockets(pid)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, file := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, file))
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(string(text)) {
			if port, inode, ok := established(line); ok && ports[port] && own[inode] {
				n++
			}
		}
	}
	return n, nil
}

// established reads a line of /proc/net/tcp: the remote port and the socket's number, of a connection that is open.
func established(line string) (port uint64, inode string, ok bool) {
	const remote, state, number, open = 2, 3, 9, "01"
	f := strings.Fields(line)
	if len(f) <= number || f[state] != open {
		return 0, "", false
	}
	_, hex, _ := strings.Cut(f[remote], ":")
	port, err := strconv.ParseUint(hex, 16, 16)
	return port, f[number], err == nil
}

// sockets are the numbers of a process's sockets.
func sockets(pid int) (map[string]bool, error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, f := range files {
		name, err := os.Readlink(filepath.Join(dir, f.Name()))
		if err != nil {
			continue // closed meanwhile
		}
		if inode, ok := strings.CutPrefix(name, "socket:["); ok {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return own, nil
}
