package connect

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/failure/destination/topic"
	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/mapping/field"
)

// regexTopicsMax is how many topics of a mapping with an expression are looked at.
const regexTopicsMax = 100

// mapping asks for the topics, the group and the destination of a mapping whose cluster let us in.
func (k *checker) mapping(ctx context.Context, m *mapping.Mapping) {
	at := func(path string) config.Where { return k.config.MappingAt(m.Name, path) }
	source := k.ready[m.Cluster]
	if source != nil {
		if expr, ok := m.TopicRegex(); ok {
			k.expression(ctx, source, expr, at("topics[0]"))
		} else {
			for i, name := range m.Topics {
				k.topic(ctx, source, name, kmsg.ACLOperationRead, at(fmt.Sprintf("topics[%d]", i)))
			}
		}
		k.group(ctx, source, m.ConsumerGroupID, at("consumerGroupId"))
	}
	if !m.OnFailure.IsZero() {
		k.destination(ctx, source, m, at("destinationConfig.onFailure.destination"))
	}
}

// expression looks at the topics that an expression stands for now.
func (k *checker) expression(ctx context.Context, c *cluster, expr string, at config.Where) {
	regex, err := regexp.Compile(expr)
	if err != nil {
		k.report(at, "", "%v", err)
		return
	}
	matched := slices.DeleteFunc(slices.Clone(c.visible(ctx)), func(name string) bool { return !regex.MatchString(name) })
	if len(matched) == 0 {
		k.report(at, "create one, grant Describe on them, or correct the expression",
			"%s matches no topic of cluster %s that %s may see", at.Quote("~"+expr), c.name, c.who)
	}
	for _, name := range matched[:min(len(matched), regexTopicsMax)] {
		k.topic(ctx, c, name, kmsg.ACLOperationRead, at)
	}
}

// operations are how messages call what is done with a topic, and what has to be granted for it.
var operations = map[kmsg.ACLOperation]struct{ verb, grant string }{
	kmsg.ACLOperationRead:  {"read", "Describe and Read"},
	kmsg.ACLOperationWrite: {"write to", "Describe and Write"},
}

// topic asks whether a topic is there and may be read or written; it says whether that is known to be so.
func (k *checker) topic(ctx context.Context, c *cluster, name string, op kmsg.ACLOperation, at config.Where) bool {
	words := operations[op]
	answer, err := describe(ctx, c, name)
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		near := ""
		if n := field.Nearest(name, c.visible(ctx)); n != "" {
			near = fmt.Sprintf(" (nearest: %q)", n)
		}
		k.report(at, "create it or correct the name", "topic %s does not exist on cluster %s%s", at.Quote(name), c.name, near)
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		k.report(at, "grant "+words.grant+" on the topic, or correct the name",
			"%s may not see topic %s on cluster %s, if there is one", c.who, at.Quote(name), c.name)
	case err != nil:
		reason, hint := kafka.Explain(err)
		k.report(at, hint, "topic %s on cluster %s: %s", at.Quote(name), c.name, detailed(reason, err))
	case answer.known && !slices.Contains(answer.operations, op):
		k.report(at, "grant "+words.grant+" on the topic",
			"%s may not %s topic %s on cluster %s", c.who, words.verb, at.Quote(name), c.name)
	default:
		return true
	}
	return false
}

// described is what a broker says of a topic.
type described struct {
	operations []kmsg.ACLOperation
	known      bool // whether it says the operations, as Kafka 2.3 and later do (KIP-430)
}

func describe(ctx context.Context, c *cluster, name string) (described, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.IncludeTopicAuthorizedOperations = true
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &name
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, c.client)
	if err != nil {
		return described{}, err
	}
	if len(resp.Topics) != 1 {
		return described{}, fmt.Errorf("a broker answered for %d topics instead of one", len(resp.Topics))
	}
	answer := resp.Topics[0]
	const unknown = -1 << 31
	return described{
		operations: kadm.DecodeACLOperations(answer.AuthorizedOperations), known: answer.AuthorizedOperations != unknown,
	}, kerr.ErrorForCode(answer.ErrorCode)
}

// group asks whether the consumer group may be found (Describe) and joined (Read). A heartbeat of a member that there is
// none of wants both, and changes nothing.
func (k *checker) group(ctx context.Context, c *cluster, group string, at config.Where) {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID = group, "sluice-validate"
	resp, err := req.RequestWith(ctx, c.client)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	switch {
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		k.report(at, "grant Describe and Read on the group", "%s may not use consumer group %s on cluster %s", c.who, at.Quote(group), c.name)
	case err != nil && !answered(err):
		reason, hint := kafka.Explain(err)
		k.report(at, hint, "consumer group %s on cluster %s: %s", at.Quote(group), c.name, detailed(reason, err))
	}
}

// answered says whether a heartbeat was refused for want of a member, which is as it should be.
func answered(err error) bool {
	for _, want := range []error{kerr.UnknownMemberID, kerr.GroupIDNotFound, kerr.IllegalGeneration, kerr.RebalanceInProgress} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

// destination asks whether a dead-letter topic is there, may be written, and is none that the mapping reads.
func (k *checker) destination(ctx context.Context, source *cluster, m *mapping.Mapping, at config.Where) {
	address, err := m.OnFailure.Address()
	if err != nil {
		k.report(at, "", "%v", err)
		return
	}
	to := source
	if address.Cluster != "" {
		to = k.ready[address.Cluster]
	}
	if to == nil || !k.topic(ctx, to, address.Topic, kmsg.ACLOperationWrite, at) || source == nil {
		return
	}
	same, err := topic.SameTopic(ctx, source.client, m.Reads, to.client, address.Topic)
	if err != nil {
		k.report(at, "", "cannot be told from the topics that the mapping reads: %v", err)
	} else if same {
		k.report(at, "name another topic", "is a topic that the mapping reads, on the same cluster: it would be fed its own dead letters")
	}
}
