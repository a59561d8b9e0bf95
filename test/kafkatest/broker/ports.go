package broker

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are taken from below the range that systems hand out to outgoing connections: a broker that was killed must
// find its port free again when it restarts.
const (
	firstPort = 20_000
	lastPort  = 32_000
)

// freePorts returns n ports of 127.0.0.1 that nobody listens on now.
func freePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	taken := map[int]bool{}
	for range 1000 {
		if len(ports) == n {
			return ports, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort)
		if taken[port] || !free(port) {
			continue
		}
		taken[port] = true
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("found only %d of %d free ports between %d and %d", len(ports), n, firstPort, lastPort)
}

func free(port int) bool {
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
