// Command fill writes the benchmark's records: keys of 8 bytes that count up, values of random bytes or lines of a file, the
// same number in each partition. It is a process of its own so that the bench stays small: what a process forks inherits its peak of
// memory in the system's books.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// batchBytes is the size of a batch in the log, as a busy producer writes them.
	batchBytes = 64 << 10
	// poolBytes are the random bytes that all values are cut from; records are not compressed, so that they repeat does
	// not matter.
	poolBytes = 16 << 20
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	brokers := flag.String("brokers", "", "bootstrap servers, parted by commas")
	topic := flag.String("topic", "", "topic, which must exist")
	partitions := flag.Int("partitions", 0, "its partitions")
	records := flag.Int("records", 0, "records in all")
	size := flag.Int("bytes", 0, "bytes of a value")
	lines := flag.String("lines", "", "file whose lines are the values, one after the other and again, in place of random bytes")
	flag.Parse()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(*brokers, ",")...),
		kgo.DefaultProduceTopic(*topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerBatchMaxBytes(batchBytes),
		kgo.ProducerLinger(5*time.Millisecond),
		kgo.MaxBufferedRecords(1<<20),
		kgo.MaxBufferedBytes(64<<20),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	value, err := values(*lines, *size)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var failed atomic.Bool
	for i := range *records {
		r := &kgo.Record{Key: binary.BigEndian.AppendUint64(nil, uint64(i)), Value: value(i), Partition: int32(i % *partitions)}
		client.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil && !failed.Swap(true) {
				cancel(err)
			}
		})
	}
	if err := client.Flush(ctx); err != nil {
		return context.Cause(ctx)
	}
	return context.Cause(ctx)
}

// values returns the value of each record.
func values(file string, size int) (func(i int) []byte, error) {
	if file != "" {
		text, err := os.ReadFile(file)
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		return func(i int) []byte { return lines[i%len(lines)] }, err
	}
	pool := make([]byte, poolBytes)
	_, _ = rand.NewChaCha8([32]byte{}).Read(pool)
	return func(i int) []byte {
		at := (i * 4099) % (poolBytes - size)
		return pool[at : at+size]
	}, nil
}
