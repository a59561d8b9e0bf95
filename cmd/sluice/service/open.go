package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/controller"
	"github.com/sluicehq/sluice/failure"
	"github.com/sluicehq/sluice/failure/circuit"
	"github.com/sluicehq/sluice/failure/destination/topic"
	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/invoke/httpfn"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/poller/group"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/scaling/lag"
)

// opener builds the adapters of mappings. Functions are shared by the mappings that call them; so are, for each
// cluster, the client beside the groups and the producer of dead letters, made when they are first needed.
type opener struct {
	config    *config.Config
	metrics   *metric.Registry
	options   Options
	clusters  map[mapping.ClusterName]kafka.Cluster
	functions map[mapping.FunctionName]*httpfn.Function
	gates     map[mapping.FunctionName]*poller.Gate

	mu        sync.Mutex
	clients   map[mapping.ClusterName]*kgo.Client
	dials     map[mapping.ClusterName]*dials // of those clients
	lags      map[mapping.ClusterName]*lag.Reader
	producers map[mapping.ClusterName]*topic.Producer
}

func newOpener(c *config.Config, metrics *metric.Registry, o Options) (*opener, error) {
	op := &opener{
		config: c, metrics: metrics, options: o,
		clusters:  Clusters(c),
		functions: make(map[mapping.FunctionName]*httpfn.Function),
		gates:     make(map[mapping.FunctionName]*poller.Gate),
		clients:   make(map[mapping.ClusterName]*kgo.Client),
		dials:     make(map[mapping.ClusterName]*dials),
		lags:      make(map[mapping.ClusterName]*lag.Reader),
		producers: make(map[mapping.ClusterName]*topic.Producer),
	}
	var wrong []error
	for name, f := range c.Functions {
		fn, err := httpfn.New(FunctionConfig(f, o.Log))
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		op.functions[name] = fn
		op.gates[name] = poller.NewGate(circuit.Limits{MaxConcurrency: f.MaxConcurrency, OutageProtection: f.OutageProtection})
	}
	return op, errors.Join(wrong...)
}

// Encoder is controller.Opener's.
func (o *opener) Encoder(m *mapping.Mapping) poller.Encoder {
	switch m.Payload {
	case mapping.PayloadRaw:
		return invoke.NewRawEncoder()
	case mapping.PayloadCloudEvents:
		return invoke.NewCloudEventsEncoder(string(m.Cluster), m.BatchSize == 1)
	}
	return invoke.NewEncoder(o.source(m))
}

// source is what events say of the mapping's cluster.
func (o *opener) source(m *mapping.Mapping) invoke.Source {
	c := o.config.Clusters[m.Cluster]
	s := invoke.Source{BootstrapServers: c.BootstrapServers}
	if c.ARN != "" {
		s.EventSource, s.EventSourceARN = invoke.MSK, c.ARN
	}
	return s
}

// Open is controller.Opener's.
func (o *opener) Open(ctx context.Context, m *mapping.Mapping, s controller.FeedSpec) (*controller.Adapters, error) {
	client, err := o.client(m.Cluster)
	if err != nil {
		return nil, err
	}
	destination, err := o.destination(ctx, m, client, s.Log)
	if err != nil {
		return nil, err
	}
	offsets, err := newOffsets(m, o.lag(m.Cluster, client))
	if err != nil {
		return nil, err
	}
	return &controller.Adapters{
		Feed: group.New(o.feed(m, client, s)), Function: o.functions[m.Function], Gate: o.gates[m.Function], Destination: destination,
		Offsets: offsets, Explain: o.explain(m.Cluster), Close: func() {},
	}, nil
}

// explain says an error of a cluster's clients in words, with the addresses where it is one of the way there, and with
// the topic where it is one of a topic.
func (o *opener) explain(name mapping.ClusterName) func(error) (reason, hint string) {
	servers := strings.Join(o.clusters[name].BootstrapServers, ", ")
	o.mu.Lock()
	d := o.dials[name]
	o.mu.Unlock()
	return func(err error) (string, string) {
		err = d.cause(err)
		reason, hint := kafka.Explain(err)
		if kafka.Unreachable(err) {
			reason += " (bootstrapServers " + servers + ")"
		}
		if unknown, ok := errors.AsType[*lag.TopicError](err); ok {
			reason += " (" + unknown.Topic + ")"
		}
		return reason, hint
	}
}

// feed translates a mapping for its consumer group.
func (o *opener) feed(m *mapping.Mapping, beside *kgo.Client, s controller.FeedSpec) group.Config {
	c := group.Config{
		Mapping: string(m.Name), Group: record.GroupID(m.ConsumerGroupID), Topics: m.Topics,
		StartAt: m.StartingPositionTimestamp, Filter: s.Filter, Limits: s.Limits, Sizes: s.Sizes,
		Gate: o.gates[m.Function], FunctionTimeout: o.config.Functions[m.Function].Timeout, DrainTimeout: s.DrainTimeout,
		SessionTimeout: o.options.SessionTimeout, BufferBytes: o.options.Memory.Buffer(m.Name),
		Dial: func(opts ...kgo.Opt) (*kgo.Client, error) {
			hook := o.metrics.KpromHooks(string(m.Name), "feed")
			return kafka.NewClient(o.clusters[m.Cluster], s.Log, append(opts, kgo.WithHooks(hook))...)
		},
		Recreated: s.Recreated, Metrics: s.Metrics, Log: s.Log,
	}
	if m.OnTopicRecreated == mapping.RecreatedStop {
		c.OnRecreated = group.StopReading
	}
	if regex, ok := m.TopicRegex(); ok {
		c.Topics, c.Regex = nil, regex
	}
	switch m.GroupProtocol {
	case mapping.GroupAuto:
		c.Choose = group.Auto(beside, c.Group)
	case mapping.GroupConsumer:
		c.Choose = group.Always(beside)
	}
	switch m.StartingPosition {
	case mapping.Latest:
		c.Start = group.Latest
	case mapping.AtTimestamp:
		c.Start = group.AtTimestamp
	}
	return c
}

// destination builds where the mapping's given-up records go, and refuses a topic that the mapping itself reads.
func (o *opener) destination(ctx context.Context, m *mapping.Mapping, source *kgo.Client, log *slog.Logger) (failure.Destination, error) {
	if m.OnFailure.IsZero() {
		return nil, nil
	}
	address, err := m.OnFailure.Address()
	if err != nil {
		return nil, err
	}
	cluster := address.Cluster
	if cluster == "" {
		cluster = m.Cluster
	}
	producer, err := o.producer(cluster)
	if err != nil {
		return nil, err
	}
	sourceID, err := o.clusterID(ctx, m.Cluster, source)
	if err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	same, err := topic.SameTopic(asking, source, m.Reads, producer.Client(), address.Topic)
	cancel()
	if err != nil {
		// A cluster that does not answer holds dead letters back, not the mapping. If it is the source by another name,
		// the dead letters' own path stops the loop.
		log.Warn("cannot tell yet whether the on-failure destination is a topic that the mapping reads",
			"destination", m.OnFailure.URI, "error", err)
	}
	if same {
		return nil, &controller.Refusal{Reason: fmt.Sprintf(
			"on-failure destination %s is a topic that the mapping reads, on the same cluster: it would be fed its own dead letters",
			m.OnFailure.URI)}
	}
	d, err := topic.New(topic.Config{
		Producer: producer, Topic: address.Topic, Format: topic.Format(m.OnFailure.Format), Mapping: string(m.Name),
		FunctionARN: o.functionARN(m), Source: o.source(m), SourceClusterID: sourceID,
	})
	if err != nil {
		return nil, err
	}
	o.check(ctx, d, log)
	return d, nil
}

// clusterID asks for the cluster's id. Where it cannot be connected to, it says so soon; where it is only slow, it waits.
func (o *opener) clusterID(ctx context.Context, name mapping.ClusterName, client *kgo.Client) (string, error) {
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	id, err := kafka.ClusterID(asking, client)
	cancel()
	o.mu.Lock()
	d := o.dials[name]
	o.mu.Unlock()
	if errors.Is(err, context.DeadlineExceeded) && d.cause(err) == err {
		id, err = kafka.ClusterID(ctx, client)
	}
	switch {
	case err == nil:
		return id, nil
	case kafka.Unreachable(err):
		reason, hint := o.explain(name)(err)
		return "", fmt.Errorf("cluster %s: %s; %s", name, reason, hint)
	}
	return "", fmt.Errorf("id of cluster %s: %w", name, err)
}

// askTimeout bounds each question about a destination at start, and the first one for a cluster's id.
const askTimeout = 3 * time.Second

// check warns of a destination that is not ready; dead letters are held back until it is.
func (o *opener) check(ctx context.Context, d *topic.Topic, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	warning, err := d.Check(ctx)
	if err != nil {
		log.Warn("the on-failure destination is not ready; dead letters would be held back", "error", err)
	} else if warning != "" {
		log.Warn(warning)
	}
}

// functionARN names a function that is not one of Lambda's in the way of those.
func (o *opener) functionARN(m *mapping.Mapping) string {
	return fmt.Sprintf("arn:aws:lambda:us-east-1:000000000000:function:%s:$LATEST", m.Function)
}

// client is the cluster's client beside the groups: long polls do not hold it up.
func (o *opener) client(name mapping.ClusterName) (*kgo.Client, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.clients[name]; c != nil {
		return c, nil
	}
	d := &dials{}
	c, err := kafka.NewClient(o.clusters[name], o.options.Log, kgo.WithHooks(d))
	if err != nil {
		return nil, err
	}
	o.clients[name], o.dials[name] = c, d
	return c, nil
}

// lag is the cluster's reader of lags: mappings share its requests.
func (o *opener) lag(name mapping.ClusterName, client *kgo.Client) *lag.Reader {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lags[name] == nil {
		o.lags[name] = lag.New(client)
	}
	return o.lags[name]
}

func (o *opener) producer(name mapping.ClusterName) (*topic.Producer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.producers[name]; p != nil {
		return p, nil
	}
	p, err := topic.NewProducer(o.clusters[name], o.options.Log)
	if err != nil {
		return nil, err
	}
	o.producers[name] = p
	return p, nil
}

// close frees what mappings share, after all of them have stopped.
func (o *opener) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.clients {
		c.Close()
	}
	for _, p := range o.producers {
		p.Close()
	}
	for _, f := range o.functions {
		f.Close()
	}
}

// offsets reads how far a mapping's group is behind.
type offsets struct {
	reader *lag.Reader
	query  lag.Query
}

func newOffsets(m *mapping.Mapping, reader *lag.Reader) (*offsets, error) {
	q := lag.Query{Group: record.GroupID(m.ConsumerGroupID), Topics: m.Topics}
	if expr, ok := m.TopicRegex(); ok {
		regex, err := regexp.Compile(expr)
		if err != nil {
			return nil, err
		}
		q.Topics, q.Regex = nil, regex
	}
	q.Start = lag.Start{Latest: m.StartingPosition == mapping.Latest, At: m.StartingPositionTimestamp}
	return &offsets{reader: reader, query: q}, nil
}

// Read is controller.OffsetReader's.
func (o *offsets) Read(ctx context.Context) ([]controller.Offsets, error) {
	reading, err := o.reader.Read(ctx, o.query)
	if err != nil {
		return nil, err
	}
	list := make([]controller.Offsets, 0, len(reading.Partitions))
	for _, p := range reading.Partitions {
		list = append(list, controller.Offsets{TopicPartition: p.TopicPartition, End: p.End, Committed: p.Committed, Lag: p.Lag})
	}
	return list, nil
}
