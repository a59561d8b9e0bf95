package topic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/record"
)

// Format is how a dead letter is written.
type Format string

// The formats; see the package comment.
const (
	FormatRecord Format = "record"
	FormatAWS    Format = "aws"
)

// DefaultTimeout bounds one Deliver where Config does not.
const DefaultTimeout = 30 * time.Second

// askTimeout bounds the question for the cluster's id, which comes before the first delivery. Without an answer the
// delivery will fare no better, but its error tells more.
const askTimeout = 5 * time.Second

// Config describes a dead-letter topic of one mapping.
type Config struct {
	// Producer writes to the topic's cluster.
	Producer *Producer
	// Topic must exist before records can be delivered; it is not created.
	Topic string
	// Format is FormatRecord where it is empty.
	Format Format
	// Mapping is the mapping's name, for the header sluice-mapping.
	Mapping string
	// FunctionARN is the function as its dead letters name it, with the qualifier used.
	FunctionARN string
	// Source tells of the source cluster in dead letters of format aws, as it does in events.
	Source invoke.Source
	// SourceClusterID is the source cluster's own id (kafka.ClusterID). Without it loops are not recognised.
	SourceClusterID string
	// Timeout bounds one Deliver; DefaultTimeout where it is 0.
	Timeout time.Duration
	// Now is the clock; time.Now where it is nil.
	Now func() time.Time
}

// Topic is a dead-letter topic. It may be used by any number of goroutines.
type Topic struct {
	config  Config
	encoder *invoke.Encoder
	gate    gate
	// compacted is learnt, by Check or from a refusal, and then stays.
	compacted atomic.Bool
	// clusterID is the destination's, learnt with the first delivery.
	clusterID atomic.Pointer[string]
}

var _ failure.Destination = (*Topic)(nil)

// New makes the destination. It does not connect; see Check.
func New(config Config) (*Topic, error) {
	if config.Format == "" {
		config.Format = FormatRecord
	}
	if config.Format != FormatRecord && config.Format != FormatAWS {
		return nil, fmt.Errorf("destination kafka://%s: format %q: allowed are %s and %s",
			config.Topic, config.Format, FormatRecord, FormatAWS)
	}
	if config.Producer == nil || config.Topic == "" {
		return nil, fmt.Errorf("destination kafka://%s: needs a producer and a topic", config.Topic)
	}
	if config.Timeout == 0 {
		config.Timeout = DefaultTimeout
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Topic{
		config: config, encoder: invoke.NewEncoder(config.Source), gate: config.Producer.gate(config.Topic),
	}, nil
}

// Check asks whether the topic is there, at start, so that a mistake shows before the first dead letter does. An error
// says why it is not, and needs no stop: deliveries are tried all the same. The warning tells of a topic that will lose
// dead letters.
func (t *Topic) Check(ctx context.Context) (warning string, err error) {
	admin := kadm.NewClient(t.config.Producer.client)
	topics, err := admin.ListTopics(ctx, t.config.Topic)
	if err == nil {
		err = topics[t.config.Topic].Err
	}
	if err != nil {
		return "", t.explained("check", err)
	}
	configs, err := admin.DescribeTopicConfigs(ctx, t.config.Topic)
	if err != nil || len(configs) == 0 || configs[0].Err != nil {
		// Not allowed to look (DescribeConfigs): a refusal will tell.
		return "", nil
	}
	for _, c := range configs[0].Configs {
		if c.Key == "cleanup.policy" && strings.Contains(c.MaybeValue(), "compact") {
			t.compacted.Store(true)
			return fmt.Sprintf("dead-letter topic %s is compacted (cleanup.policy=%s): of several dead letters with one key "+
				"only the last is kept, and one without value is removed; use cleanup.policy=delete", t.config.Topic, c.MaybeValue()), nil
		}
	}
	return "", nil
}

// Deliver writes the records of the run, in order, and waits for their confirmation, up to the time-out. See
// failure.Destination.
func (t *Topic) Deliver(ctx context.Context, run record.Run) (undelivered []*record.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.config.Timeout)
	defer cancel()
	if err := t.gate.enter(ctx); err != nil {
		return run.Records, t.explained("deliver to", fmt.Errorf("waiting for an earlier delivery: %w", err))
	}
	s := &shipment{topic: t, run: run, errs: make([]error, len(run.Records))}
	defer s.leave()
	s.here = t.here(ctx)
	s.send(ctx)
	if undelivered, err = s.undelivered(); err != nil {
		return undelivered, t.explained("deliver to", fmt.Errorf("%d of %d records, the first %s: %w",
			len(undelivered), len(run.Records), run.At(record.Offset(undelivered[0].Offset)), err))
	}
	return nil, nil
}

// here names the destination among all topics of all clusters, or is empty while its cluster has not been reached.
func (t *Topic) here(ctx context.Context) string {
	if t.config.SourceClusterID == "" {
		return ""
	}
	id := t.clusterID.Load()
	if id == nil {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		found, err := kafka.ClusterID(ctx, t.config.Producer.client)
		if err != nil {
			return ""
		}
		id = &found
		t.clusterID.Store(id)
	}
	return place(*id, t.config.Topic)
}

// explained puts the topic before a failure, and what the operator can do behind it.
func (t *Topic) explained(operation string, err error) error {
	text := fmt.Sprintf("%s dead-letter topic %s", operation, t.config.Topic)
	if errors.Is(err, ErrLoop) {
		return fmt.Errorf("%s: %w", text, err)
	}
	reason, hint := kafka.Explain(err)
	if hint != "" {
		reason += " (" + hint + ")"
	}
	return fmt.Errorf("%s: %s: %w", text, reason, err)
}

// SameTopic says whether a topic of the destination cluster is one that the mapping reads, by whatever names and
// addresses the two clusters are configured: that would feed the mapping its own dead letters. Covers tells whether
// the mapping reads a topic of that name. It asks the clusters only where the name matches.
func SameTopic(ctx context.Context, source *kgo.Client, covers func(topic string) bool, destination *kgo.Client, topic string) (bool, error) {
	if !covers(topic) {
		return false, nil
	}
	from, err := kafka.ClusterID(ctx, source)
	if err != nil {
		return false, fmt.Errorf("id of the source cluster: %w", err)
	}
	to, err := kafka.ClusterID(ctx, destination)
	if err != nil {
		return false, fmt.Errorf("id of the destination cluster: %w", err)
	}
	return from == to, nil
}
