package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// filled is the topic that is there at the moment; the zero value is none.
type filled struct {
	name    string
	value   int
	records int64
	events  eventSize
}

// provide makes the topic of a case and fills it, unless the case before had the same. The one before goes.
func (b *bench) provide(ctx context.Context, c benchCase) error {
	records := c.scaled(b.scale)
	if b.topic.value == c.value && b.topic.records == records {
		return nil
	}
	name := fmt.Sprintf("bench-%s-%d", sizeName(c.value), records)
	b.progress.now("filling %s", name)
	err := b.admin(func(admin *kadm.Client) error {
		if old := b.topic.name; old != "" {
			if _, err := admin.DeleteTopic(ctx, old); err != nil {
				return fmt.Errorf("delete topic %s: %w", old, err)
			}
		}
		_, err := admin.CreateTopic(ctx, partitions, 1, nil, name)
		return err
	})
	if err != nil {
		return fmt.Errorf("topic %s: %w", name, err)
	}
	out, err := exec.CommandContext(ctx, b.program("fill"), "-brokers", strings.Join(b.brokers, ","), "-topic", name,
		"-partitions", strconv.Itoa(partitions), "-records", strconv.FormatInt(records, 10),
		"-bytes", strconv.Itoa(c.value)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("fill topic %s: %w\n%s", name, err, out)
	}
	b.topic = filled{name: name, value: c.value, records: records, events: eventSizeOf(c, b.brokers, name, records)}
	b.progress.done("%s: %d records of %d bytes", name, records, keyBytes+c.value)
	return nil
}

// settled says what is wrong with a group's commits: they must be at the end of every partition.
func (b *bench) settled(ctx context.Context, group string) error {
	return b.admin(func(admin *kadm.Client) error {
		committed, err := admin.FetchOffsets(ctx, group)
		if err == nil {
			err = committed.Error()
		}
		if err != nil {
			return err
		}
		for p := range int32(partitions) {
			o, ok := committed.Lookup(b.topic.name, p)
			if want := b.topic.records / partitions; !ok || o.At != want {
				return fmt.Errorf("%s-%d is committed at %d, not at its end, %d", b.topic.name, p, o.At, want)
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
