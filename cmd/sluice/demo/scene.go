package demo

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"sync/atomic"
	"text/template"

	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/record"
)

// A kind is a mapping that the demo shows.
type kind struct {
	// Name is the mapping's, its function's and its topic's.
	Name string
	// Mode is the consumptionMode.
	Mode       string
	partitions int32
}

// kinds are shown side by side, one for each consumption mode that there is.
var kinds = []kind{
	{Name: "orders", Mode: "Stream", partitions: 12},
}

// scene is a kind that runs: producer → topic → mapping → function, with its ledger.
type scene struct {
	kind
	records  int
	ledger   *ledger
	function *function
	poison   atomic.Pointer[spot] // where the poison record went; nil before
}

// spot is a record's place.
type spot struct {
	record.TopicPartition
	offset int64
}

func (s spot) String() string { return s.At(record.Offset(s.offset)) }

// Topic is what is read, DeadLetterTopic where the poison record ends, URL where the function is.
func (s *scene) Topic() string { return s.Name }

// DeadLetterTopic is the destination of what is given up.
func (s *scene) DeadLetterTopic() string { return s.Name + "-dlq" }

// URL is the function's.
func (s *scene) URL() string { return s.function.url }

func (s *scene) group() string { return "sluice-" + s.Name }

func openScenes(records int) ([]*scene, error) {
	var scenes []*scene
	for _, k := range kinds {
		s := &scene{kind: k, records: records, ledger: newLedger(k.partitions)}
		var err error
		if s.function, err = serveFunction(s.ledger, s.Name); err != nil {
			closeScenes(scenes)
			return nil, err
		}
		scenes = append(scenes, s)
	}
	return scenes, nil
}

func closeScenes(scenes []*scene) {
	for _, s := range scenes {
		s.function.close()
	}
}

//go:embed demo.yaml
var yamlTemplate string

// configure is the configuration of the service: read from YAML, as any other.
func configure(listen string, kafka *cluster, scenes []*scene) (*config.Config, error) {
	var text bytes.Buffer
	t := template.Must(template.New("demo.yaml").Parse(yamlTemplate))
	err := t.Execute(&text, map[string]any{"Listen": listen, "Kafka": kafka.address(), "Scenes": scenes})
	if err != nil {
		return nil, err
	}
	return config.Parse("demo.yaml", text.Bytes(), config.Options{})
}

// settled is how many of the scenes' records are settled.
func settled(scenes []*scene) (n int64) {
	for _, s := range scenes {
		n += s.ledger.sums().settled()
	}
	return n
}

// finished says whether everything was produced and is settled.
func finished(scenes []*scene) bool {
	return !slices.ContainsFunc(scenes, func(s *scene) bool {
		c := s.ledger.sums()
		return c.Produced < int64(s.records) || c.settled() < c.Produced
	})
}

// cleanUp deletes from Kafka what the mappings have committed, as retention would, until ctx ends.
func cleanUp(ctx context.Context, kafka *cluster, scenes []*scene) {
	for kafka.pause(ctx) {
		for _, s := range scenes {
			if err := kafka.trim(ctx, s.group(), s.Topic()); err != nil && ctx.Err() == nil {
				kafka.log.Warn("trimming the topic", "topic", s.Topic(), "error", err)
			}
		}
	}
}

// uncommitted is how many records of the scene its group has not committed.
func (s *scene) uncommitted(ctx context.Context, kafka *cluster) (int64, error) {
	committed, ends, err := kafka.offsets(ctx, s.group(), s.Topic())
	if err != nil {
		return 0, fmt.Errorf("read the commits of %s: %w", s.group(), err)
	}
	var n int64
	for p, end := range ends {
		n += end - committed[p]
	}
	return n, nil
}
