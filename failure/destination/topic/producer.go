package topic

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/internal/kafka"
)

const (
	// recordBytesMax bounds one dead letter before compression, on our side; the topic's max.message.bytes, which
	// bounds it after, is mostly far lower.
	recordBytesMax = 64 << 20
	// bufferedBytesMax and bufferedRecordsMax bound what a producer holds for all its topics. Deliver waits for
	// room, up to its time-out.
	bufferedBytesMax   = 128 << 20
	bufferedRecordsMax = 20_000
	// recordTimeout ends a record before Deliver gives up: the client then says what held it up.
	recordTimeout = DefaultTimeout - 5*time.Second
	// missingTopicRetries is low, because a missing topic is tried again by the poller anyway.
	missingTopicRetries = 1
)

// Producer writes to the topics of one cluster. The mappings that have their dead letters there share it.
type Producer struct {
	client *kgo.Client

	mu    sync.Mutex
	gates map[string]gate // by topic; as many as there are destinations
}

// NewProducer makes the producer of a cluster. It does not connect. The options come after its own; they must not
// weaken the acknowledgements. The caller closes it, after its topics are done.
func NewProducer(cluster kafka.Cluster, log *slog.Logger, opts ...kgo.Opt) (*Producer, error) {
	own := []kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		// A dead destination must let go of its records in time. Where the answer to a request is lost, the record
		// may then arrive twice; at-least-once allows for that.
		kgo.AllowIdempotentProduceCancellation(),
		kgo.RecordDeliveryTimeout(recordTimeout),
		kgo.UnknownTopicRetries(missingTopicRetries),
		kgo.ProducerBatchMaxBytes(recordBytesMax),
		kgo.MaxBufferedBytes(bufferedBytesMax),
		kgo.MaxBufferedRecords(bufferedRecordsMax),
		kgo.ProducerLinger(time.Millisecond),
	}
	client, err := kafka.NewClient(cluster, log, append(own, opts...)...)
	if err != nil {
		return nil, err
	}
	return &Producer{client: client, gates: map[string]gate{}}, nil
}

// Client is the producer's client, for questions about its cluster (SameTopic).
func (p *Producer) Client() *kgo.Client { return p.client }

// Close gives up what is still being delivered and ends the client.
func (p *Producer) Close() { p.client.Close() }

// A gate lets one delivery at a time write to a topic. Alone, it knows that a refusal for size is about its own
// records; and dead letters are few, so that nobody waits long but when the destination is down.
type gate chan struct{}

func (p *Producer) gate(topic string) gate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gates[topic] == nil {
		p.gates[topic] = make(gate, 1)
	}
	return p.gates[topic]
}

func (g gate) enter(ctx context.Context) error {
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) leave() { <-g }
