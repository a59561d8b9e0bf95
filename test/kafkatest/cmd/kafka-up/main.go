// Command kafka-up runs a real Apache Kafka on this machine until it is interrupted, for trying things out and for
// examples. It needs Java 17 and, the first time, Maven to fetch Kafka.
//
//	go run ./test/kafkatest/cmd/kafka-up -port 9092
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/sluicehq/sluice/test/kafkatest/broker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kafka-up:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	version := flag.String("version", "", "version of Apache Kafka; the tests run on "+strings.Join(broker.Versions(), ", ")+" (default "+broker.Newest+")")
	brokers := flag.Int("brokers", 1, "number of brokers")
	port := flag.Int("port", 9092, "port of the first broker on 127.0.0.1; the others count up")
	dir := flag.String("dir", "", "folder for the data, kept afterwards (default: a scratch folder, removed)")
	secure := flag.Bool("secure", false, "also open SASL and TLS listeners, and print what they want")
	fetch := flag.Bool("fetch", false, "only fetch Kafka into the cache: -version, or else every version that the tests run on")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if *fetch {
		return install(ctx, *version)
	}
	if *version == "" {
		*version = broker.Newest
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("", "kafka-up-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(*dir)) }()
	}
	cluster, err := broker.Start(ctx, broker.Config{
		Version: *version, Brokers: *brokers, Port: *port, Dir: *dir, Secure: *secure, Progress: os.Stderr,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	announce(cluster, *version)
	<-ctx.Done()
	return nil
}

func install(ctx context.Context, version string) error {
	versions := broker.Versions()
	if version != "" {
		versions = []string{version}
	}
	for _, v := range versions {
		if _, err := broker.Install(ctx, v, os.Stderr); err != nil {
			return err
		}
	}
	return nil
}

func announce(cluster *broker.Cluster, version string) {
	fmt.Printf("kafka %s at %s (Ctrl-C stops it)\n", version, strings.Join(cluster.Addresses(broker.Plaintext), ","))
	for _, l := range []broker.Listener{broker.SASLPlaintext, broker.SASLTLS, broker.TLS, broker.MutualTLS} {
		if addresses := cluster.Addresses(l); addresses != nil {
			fmt.Printf("  %-9v %s\n", l, strings.Join(addresses, ","))
		}
	}
	if c := cluster.Credentials(); c.Username != "" {
		fmt.Printf("  user %s, password %s (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512)\n  CA %s\n  client certificate %s, key %s\n",
			c.Username, c.Password, c.CAFile, c.CertFile, c.KeyFile)
	}
}
