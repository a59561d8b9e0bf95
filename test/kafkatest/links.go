package kafkatest

import (
	"github.com/sluicehq/sluice/test/kafkatest/broker"
	"github.com/sluicehq/sluice/test/network"
)

// Links are the ways to the brokers for clients that come through a network of ours, by broker from 0. Such clients start
// at Proxied; the helpers' own client does not pass them. They need Options.Proxied, and are made by the first call. It
// may be called from the test's own goroutine only; the links themselves are anybody's.
func (c *Cluster) Links() []*network.Link {
	c.t.Helper()
	if c.links != nil {
		return c.links
	}
	addresses := c.Address(broker.Proxied)
	for i, upstream := range c.mustReal("Links").Behind() {
		link, err := network.Open(addresses[i], upstream)
		c.must("open a link", err)
		c.t.Cleanup(link.Close)
		c.links = append(c.links, link)
	}
	return c.links
}

// Proxied is where clients find the cluster through Links.
func (c *Cluster) Proxied() []string {
	c.t.Helper()
	c.Links()
	return c.Address(broker.Proxied)
}

// Impair has a fault befall the ways to all brokers.
func (c *Cluster) Impair(f network.Fault) {
	c.t.Helper()
	for _, l := range c.Links() {
		c.must("impair the network", l.Impair(f))
	}
}

// Heal mends the ways to all brokers.
func (c *Cluster) Heal() {
	c.t.Helper()
	for _, l := range c.Links() {
		c.must("heal the network", l.Heal())
	}
}
