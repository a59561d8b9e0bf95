// Command orders writes orders for the example beside it, and shows which of them became dead letters. It makes the topics
// orders and orders-dlq where they are not there. One order in the middle cannot be read.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	topic       = "orders"
	deadLetters = "orders-dlq"
)

func main() {
	servers := flag.String("bootstrap-servers", "localhost:9092", "a broker")
	n := flag.Int("n", 1000, "how many orders to write")
	show := flag.Bool("dead-letters", false, "write nothing; show the dead letters")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if *n < 1 {
		log.Fatal("-n must be at least 1")
	}
	if err := run(ctx, *servers, *n, *show); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, servers string, n int, show bool) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(servers), kgo.ConsumeTopics(deadLetters))
	if err != nil {
		return err
	}
	defer client.Close()
	if show {
		return showDeadLetters(ctx, client)
	}
	for name, partitions := range map[string]int32{topic: 6, deadLetters: 1} {
		_, err := kadm.NewClient(client).CreateTopic(ctx, partitions, -1, nil, name)
		if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("make topic %s: %w", name, err)
		}
	}
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{
			Topic: topic, Key: fmt.Appendf(nil, "customer-%d", i%100),
			Value: fmt.Appendf(nil, `{"id":"o-%d","amount":2.5}`, i),
		}
	}
	records[n/2].Value = []byte("this is no order")
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return err
	}
	fmt.Printf("wrote %d orders; the one at %s-%d@%d cannot be read\n", n, topic, records[n/2].Partition, records[n/2].Offset)
	return nil
}

// showDeadLetters waits for the first and prints what came with it.
func showDeadLetters(ctx context.Context, client *kgo.Client) error {
	fetches := client.PollFetches(ctx)
	if err := fetches.Err(); err != nil {
		return err
	}
	fetches.EachRecord(func(r *kgo.Record) {
		fmt.Printf("%s: %s\n", r.Key, r.Value)
		for _, h := range r.Headers {
			fmt.Printf("  %s: %s\n", h.Key, h.Value)
		}
	})
	return nil
}
