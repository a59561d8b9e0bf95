package broker

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// waitReady returns when every broker that runs answers and knows all the others that run.
func (c *Cluster) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for _, n := range c.nodes {
		if !c.Running(n.id) {
			continue
		}
		if err := c.waitNode(ctx, n); err != nil {
			return fmt.Errorf("broker %d: %w; its log ends:\n%s", n.id, err, c.LogTail(n.id, 30))
		}
	}
	return nil
}

func (c *Cluster) waitNode(ctx context.Context, n node) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(address(n.ports[Plaintext])),
		kgo.DialTimeout(time.Second),
		kgo.RequestRetries(0),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		known, err := brokersKnown(ctx, client)
		if err == nil && known >= c.up() {
			return nil
		}
		if c.exited(n.id) {
			return fmt.Errorf("the process has ended")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready: %d of %d brokers known, %w", known, c.up(), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// brokersKnown asks a node how many brokers the cluster has. It goes to the seed, which is that very node.
func brokersKnown(ctx context.Context, client *kgo.Client) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none
	seed := client.SeedBrokers()[0]
	resp, err := seed.Request(ctx, req)
	if err != nil {
		return 0, err
	}
	return len(resp.(*kmsg.MetadataResponse).Brokers), nil
}

// up is how many brokers run.
func (c *Cluster) up() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.processes)
}

func (c *Cluster) exited(id int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.processes[id]
	return p == nil || p.exited()
}

// versionLine is what every Kafka process says of itself when it starts.
var versionLine = regexp.MustCompile(`Kafka version: (\S+)`)

// Version is what the first broker said of itself in its log when it started: the protocol does not carry it.
func (c *Cluster) Version() (string, error) {
	log, err := os.ReadFile(c.logFile(1))
	if err != nil {
		return "", err
	}
	m := versionLine.FindSubmatch(log)
	if m == nil {
		return "", fmt.Errorf("the log of broker 1 names no version")
	}
	return string(m[1]), nil
}

// clusterID is a UUID in Kafka's spelling: 22 characters of base64.
func clusterID(u uuid.UUID) string {
	return base64.RawURLEncoding.EncodeToString(u[:])
}
