// Package broker runs a real Apache Kafka on this machine: one to three brokers in KRaft mode, each a Java process on
// 127.0.0.1, from jars that Maven fetches once into a cache outside the tree.
//
// It knows nothing of tests; package kafkatest wraps it for them, and kafka-up for people.
package broker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// Config says which cluster to run.
type Config struct {
	Version string // of Apache Kafka; Newest when empty
	Brokers int    // 1 when 0; their ids are 1, 2, 3 …
	Dir     string // for data, logs and certificates; kept by Close, so a later Start with it goes on with the data
	Port    int    // of the first broker's Plaintext listener, the others count up; 0 for any

	// Secure opens the other listeners beside Plaintext; see Cluster.Credentials.
	Secure bool
	// Proxied opens the listener of that name, for clients that are to come through a proxy of the caller's.
	Proxied bool
	// Properties go into each broker's server.properties last.
	Properties map[string]string
	// Progress is told what takes long: downloads. May be nil.
	Progress io.Writer

	credentials Credentials
}

// readyTimeout bounds the start of a cluster; on two busy cores a broker takes 3 to 15 s.
const readyTimeout = 2 * time.Minute

// Cluster is a running Kafka. Its methods may be called from any goroutine.
type Cluster struct {
	config Config
	java   string
	libs   string
	nodes  []node

	mu        sync.Mutex
	processes map[int]*process // by node id; absent when stopped
}

// Start installs Kafka if need be, starts the brokers, and returns when they answer and know each other.
func Start(ctx context.Context, config Config) (*Cluster, error) {
	if config.Version == "" {
		config.Version = Newest
	}
	config.Brokers = max(config.Brokers, 1)
	if config.Progress == nil {
		config.Progress = io.Discard
	}
	c := &Cluster{config: config, processes: map[int]*process{}}
	err := c.start(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("start kafka %s: %w", config.Version, err), c.Close())
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) (err error) {
	if c.java, err = java(); err != nil {
		return err
	}
	if c.libs, err = Install(ctx, c.config.Version, c.config.Progress); err != nil {
		return err
	}
	if c.config.Secure {
		if c.config.credentials, err = makeCredentials(filepath.Join(c.config.Dir, "certificates")); err != nil {
			return err
		}
	}
	if err := c.layOut(); err != nil {
		return err
	}
	if err := c.format(ctx); err != nil {
		return err
	}
	for _, n := range c.nodes {
		if err := c.launch(n.id); err != nil {
			return err
		}
	}
	return c.waitReady(ctx)
}

// layOut gives each node its ports, folder and server.properties.
func (c *Cluster) layOut() error {
	listeners := c.config.listeners()
	ports, err := freePorts(c.config.Brokers * (len(listeners) + 2))
	if err != nil {
		return err
	}
	for i := range c.config.Brokers {
		n := node{id: i + 1, ports: map[Listener]int{}, dir: filepath.Join(c.config.Dir, fmt.Sprintf("broker-%d", i+1))}
		n.controller, n.proxy, ports = ports[0], ports[1], ports[2:]
		for _, l := range listeners {
			n.ports[l], ports = ports[0], ports[1:]
		}
		if c.config.Port != 0 {
			n.ports[Plaintext] = c.config.Port + i
		}
		c.nodes = append(c.nodes, n)
	}
	for _, n := range c.nodes {
		if err := os.MkdirAll(n.dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(c.propertiesFile(n.id), []byte(properties(c.config, n, c.nodes)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) propertiesFile(id int) string {
	return filepath.Join(c.config.Dir, fmt.Sprintf("server-%d.properties", id))
}

func (c *Cluster) logFile(id int) string {
	return filepath.Join(c.config.Dir, fmt.Sprintf("server-%d.log", id))
}

// format writes the first metadata of each node that has none yet; a folder of an earlier run keeps its data.
func (c *Cluster) format(ctx context.Context) error {
	args := []string{"format", "--cluster-id=" + clusterID(uuid.New())}
	if c.config.Secure {
		for _, mechanism := range scramMechanisms {
			args = append(args, "--add-scram", fmt.Sprintf("%s=[name=%s,password=%s]",
				mechanism, c.config.credentials.Username, c.config.credentials.Password))
		}
	}
	for _, n := range c.nodes {
		if _, err := os.Stat(filepath.Join(n.dir, "meta.properties")); err == nil {
			continue
		}
		all := c.javaArgs([]string{"-Xmx256m", quickCompiler}, "kafka.tools.StorageTool", append(args, "--config", c.propertiesFile(n.id))...)
		if out, err := exec.CommandContext(ctx, c.java, all...).CombinedOutput(); err != nil {
			return fmt.Errorf("format broker %d: %w\n%s", n.id, err, out)
		}
	}
	return nil
}

// quickCompiler makes Java start with a third less work, and run slower afterwards.
const quickCompiler = "-XX:TieredStopAtLevel=1"

func (c *Cluster) javaArgs(machine []string, class string, args ...string) []string {
	return slices.Concat(machine, []string{
		"-XX:-UsePerfData", "-Djava.awt.headless=true",
		"-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-cp", filepath.Join(c.libs, "*"), class,
	}, args)
}

// launch starts a broker's process.
func (c *Cluster) launch(id int) error {
	machine := []string{"-Xmx1g"} // a lone broker is what rates are measured against
	if c.config.Brokers > 1 {
		machine = []string{"-Xmx400m", quickCompiler}
	}
	p, err := launch(c.java, c.javaArgs(machine, "kafka.Kafka", c.propertiesFile(id)), c.logFile(id))
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes[id] = p
	return nil
}

// take removes a broker's process from the running ones; stopping it is the caller's.
func (c *Cluster) take(id int) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.processes[id]
	if p == nil {
		return nil, fmt.Errorf("broker %d is not running", id)
	}
	delete(c.processes, id)
	return p, nil
}

// Kill ends a broker with SIGKILL, as a machine that loses power.
func (c *Cluster) Kill(id int) error {
	p, err := c.take(id)
	if err != nil {
		return err
	}
	return p.kill()
}

// Stop ends a broker with SIGTERM: it hands its partitions over first.
func (c *Cluster) Stop(ctx context.Context, id int) error {
	p, err := c.take(id)
	if err != nil {
		return err
	}
	return p.stop(ctx)
}

// Restart starts a broker that was killed or stopped, on its old ports and data, and returns when it answers.
func (c *Cluster) Restart(ctx context.Context, id int) error {
	if c.Running(id) {
		return fmt.Errorf("broker %d is running", id)
	}
	if err := c.launch(id); err != nil {
		return err
	}
	return c.waitReady(ctx)
}

// Running reports whether a broker was started and not killed or stopped since.
func (c *Cluster) Running(id int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.processes[id] != nil
}

// Freeze stops a broker's process from running, its connections open, as a machine that hangs. Thaw ends that.
func (c *Cluster) Freeze(id int) error { return c.signal(id, syscall.SIGSTOP) }

// Thaw lets a frozen broker go on.
func (c *Cluster) Thaw(id int) error { return c.signal(id, syscall.SIGCONT) }

func (c *Cluster) signal(id int, s syscall.Signal) error {
	c.mu.Lock()
	p := c.processes[id]
	c.mu.Unlock()
	if p == nil {
		return fmt.Errorf("broker %d is not running", id)
	}
	return p.signal(s)
}

// Close kills what still runs. The data stays in Config.Dir.
func (c *Cluster) Close() error {
	c.mu.Lock()
	processes := c.processes
	c.processes = map[int]*process{}
	c.mu.Unlock()
	var errs []error
	for _, p := range processes {
		errs = append(errs, p.kill())
	}
	return errors.Join(errs...)
}

// Addresses are the brokers' on a listener, as they tell them to clients; nil if it is not open.
func (c *Cluster) Addresses(l Listener) []string {
	var addresses []string
	for _, n := range c.nodes {
		if port := n.advertised(l); port != 0 {
			addresses = append(addresses, address(port))
		}
	}
	return addresses
}

// Behind is where the brokers themselves listen for what comes to the addresses of Proxied, in the same order.
func (c *Cluster) Behind() []string {
	var addresses []string
	for _, n := range c.nodes {
		addresses = append(addresses, address(n.ports[Proxied]))
	}
	return addresses
}

// Credentials are for the secure listeners; empty without Config.Secure.
func (c *Cluster) Credentials() Credentials { return c.config.credentials }

// Brokers is how many brokers the cluster has, running or not.
func (c *Cluster) Brokers() int { return len(c.nodes) }

// LogTail returns the last lines of a broker's log.
func (c *Cluster) LogTail(id, lines int) string {
	return c.log(id, lines, func(string) bool { return true })
}

// Complaints returns the last lines of a broker's log that are warnings or worse, or belong to one.
func (c *Cluster) Complaints(id, lines int) string {
	return c.log(id, lines, func(line string) bool { return !strings.Contains(line, "] INFO ") })
}

func (c *Cluster) log(id, lines int, wanted func(line string) bool) string {
	content, err := os.ReadFile(c.logFile(id))
	if err != nil {
		return err.Error()
	}
	var kept []string
	for line := range strings.Lines(string(content)) {
		if wanted(line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-lines):], "")
}
