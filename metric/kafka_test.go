package metric_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/metric"
)

func TestKafkaClientsOfManyMappingsShareTheRegistry(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	r := metric.New()
	client := func(mapping, name string) *kgo.Client {
		t.Helper()
		c, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.WithHooks(r.KpromHooks(mapping, name)))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		return c
	}
	shown := func(labels string) bool {
		return strings.Contains(page(t, r), `sluice_kafka_connects_total{`+labels)
	}

	lag := client("", "lag")
	a, b := client("a", "feed"), client("b", "feed")
	again := client("a", "feed") // a reload opens the new feed's client before the old one's is closed
	if !shown(`client="feed",mapping="a"`) || !shown(`client="feed",mapping="b"`) || !shown(`client="lag",mapping=""`) {
		t.Errorf("series are missing:\n%s", page(t, r))
	}
	a.Close()
	if !shown(`client="feed",mapping="a"`) {
		t.Error("closing the older client took away the newer one's series")
	}
	again.Close()
	if shown(`client="feed",mapping="a"`) || !shown(`client="feed",mapping="b"`) {
		t.Error("closing a's last client must take away its series, and only them")
	}
	b.Close()
	lag.Close()
	if got := page(t, r); strings.Contains(got, "sluice_kafka_") {
		t.Errorf("series are left after all clients are closed:\n%s", got)
	}
}
