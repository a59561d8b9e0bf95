package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// topic is one that the bench has made and filled, evenly over its partitions.
type topic struct {
	name       string
	partitions int
	value      int // bytes of a value
	records    int64
	events     eventSize
}

// newTopic makes a topic without records.
func (b *bench) newTopic(ctx context.Context, name string, partitions int) error {
	err := b.admin(func(admin *kadm.Client) error {
		_, err := admin.CreateTopic(ctx, int32(partitions), 1, nil, name)
		return err
	})
	if err != nil {
		return fmt.Errorf("create topic %s: %w", name, err)
	}
	return nil
}

// fillTopic makes a topic and writes its records; more are arguments of fill, for values that are not random bytes.
func (b *bench) fillTopic(ctx context.Context, name string, partitions int, records int64, value int, more ...string) (*topic, error) {
	b.progress.now("filling %s", name)
	if err := b.newTopic(ctx, name, partitions); err != nil {
		return nil, err
	}
	args := []string{
		"-brokers", b.servers(), "-topic", name, "-partitions", strconv.Itoa(partitions), "-records", strconv.FormatInt(records, 10),
		"-bytes", strconv.Itoa(value),
	}
	out, err := exec.CommandContext(ctx, b.program("fill"), append(args, more...)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("fill topic %s: %w\n%s", name, err, out)
	}
	t := &topic{name: name, partitions: partitions, value: value, records: records}
	t.events = eventSizeOf(t, b.brokers)
	b.progress.done("topic %s: %s records of %d bytes", name, thousands(records), keyBytes+value)
	return t, nil
}

// drop deletes topics. One that stays is not worth an error: the broker and its data go at the end.
func (b *bench) drop(ctx context.Context, names ...string) {
	_ = b.admin(func(admin *kadm.Client) error {
		_, err := admin.DeleteTopics(ctx, names...)
		return err
	})
}

// settled says what is wrong with a group's commits: they must be at the end of every partition.
func (b *bench) settled(ctx context.Context, t *topic, group string) error {
	return b.admin(func(admin *kadm.Client) error {
		committed, err := admin.FetchOffsets(ctx, group)
		if err == nil {
			err = committed.Error()
		}
		if err != nil {
			return err
		}
		for p := range int32(t.partitions) {
			o, ok := committed.Lookup(t.name, p)
			if want := t.records / int64(t.partitions); !ok || o.At != want {
				return fmt.Errorf("%s-%d is committed at %d, not at its end, %d", t.name, p, o.At, want)
			}
		}
		return nil
	})
}

func (b *bench) admin(f func(*kadm.Client) error) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.brokers...))
	if err != nil {
		return err
	}
	defer client.Close()
	return f(kadm.NewClient(client))
}
