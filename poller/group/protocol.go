package group

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/record"
)

// Protocol is how the members of a group share its partitions.
type Protocol uint8

// The group protocols.
const (
	Classic  Protocol = iota // the members agree among themselves, cooperatively
	Consumer                 // the brokers assign, to one member after the other (KIP-848)
)

// String returns Kafka's name of it (group.protocol).
func (p Protocol) String() string {
	if p == Consumer {
		return "consumer"
	}
	return "classic"
}

// Choice is a protocol, and the reason for it, in words.
type Choice struct {
	Protocol Protocol
	Why      string
}

// Chooser finds out which protocol a group should use. An error says that it cannot be told now.
type Chooser func(ctx context.Context) (Choice, error)

// metadataOf43 is the metadata.version that Kafka 4.3 came with. Its brokers take a commit also from a member that has
// not heard yet of a newer epoch of its group (KIP-1251). Older ones refuse it with STALE_MEMBER_EPOCH, the last one of
// a member that leaves for good.
const metadataOf43 = 30

// Auto chooses by what the cluster can do: Consumer where every broker that answers is of Kafka 4.3 or later and the
// cluster has such groups, else Classic; and Classic where the group has classic members and the brokers do not let it
// change. The client is beside the group.
func Auto(client *kgo.Client, group record.GroupID) Chooser {
	return func(ctx context.Context) (Choice, error) {
		brokers, err := versions(ctx, client)
		if err != nil {
			return Choice{}, err
		}
		if why := lacking(brokers); why != "" {
			return Choice{Classic, why}, nil
		}
		if why := aged(brokers); why != "" {
			return Choice{Classic, why}, nil
		}
		if why := unmoved(ctx, kadm.NewClient(client), group); why != "" {
			return Choice{Classic, why}, nil
		}
		return Choice{Consumer, "every broker is of Kafka 4.3 or later"}, nil
	}
}

// Always chooses Consumer; it is an error where the cluster has no such groups.
func Always(client *kgo.Client) Chooser {
	return func(ctx context.Context) (Choice, error) {
		brokers, err := versions(ctx, client)
		if err != nil {
			return Choice{}, err
		}
		if why := lacking(brokers); why != "" {
			return Choice{}, &unfit{why}
		}
		return Choice{Consumer, "groupProtocol says so"}, nil
	}
}

// unfit says that the cluster cannot do what the mapping asks for.
type unfit struct{ why string }

// Error names the reason.
func (u *unfit) Error() string { return "groupProtocol consumer: " + u.why }

// Explain says it for people.
func (u *unfit) Explain() (reason, hint string) {
	return "the cluster has no groups for groupProtocol consumer: " + u.why, "set groupProtocol: auto"
}

// versions asks every broker what it can do. Those that do not answer are left out, if any does.
func versions(ctx context.Context, client *kgo.Client) ([]*kmsg.ApiVersionsResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	all, err := kadm.NewClient(client).ApiVersions(ctx)
	if err != nil {
		return nil, err
	}
	var answers []*kmsg.ApiVersionsResponse
	err = errors.New("the cluster has no brokers")
	for _, broker := range all.Sorted() {
		if broker.Err != nil {
			err = broker.Err
			continue
		}
		answers = append(answers, broker.Raw())
	}
	if len(answers) == 0 {
		return nil, err
	}
	return answers, nil
}

// lacking says why the cluster cannot have groups by KIP-848; "" if it can. Kafka 4.0 is the first whose requests are
// final: version 1.
func lacking(brokers []*kmsg.ApiVersionsResponse) string {
	for _, b := range brokers {
		offered := slices.ContainsFunc(b.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool {
			return k.ApiKey == int16(kmsg.ConsumerGroupHeartbeat) && k.MaxVersion >= 1
		})
		if !offered {
			return "a broker is older than Kafka 4.0"
		}
		if !slices.ContainsFunc(b.FinalizedFeatures, func(f kmsg.ApiVersionsResponseFinalizedFeature) bool {
			return f.Name == "group.version" && f.MaxVersionLevel >= 1
		}) {
			return "the cluster's feature group.version is 0"
		}
	}
	return ""
}

// aged says why the brokers should not be trusted with such a group; "" if they should.
func aged(brokers []*kmsg.ApiVersionsResponse) string {
	for _, b := range brokers {
		if !slices.ContainsFunc(b.SupportedFeatures, func(f kmsg.ApiVersionsResponseSupportedFeature) bool {
			return f.Name == "metadata.version" && f.MaxVersion >= metadataOf43
		}) {
			return "a broker is older than Kafka 4.3"
		}
	}
	return ""
}

// unmoved says why the group has to remain a classic one: it has members of that kind, and the brokers do not let it
// change. Who may not be asked is taken to have Kafka's default, which lets it.
func unmoved(ctx context.Context, admin *kadm.Client, group record.GroupID) string {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	described, err := admin.DescribeGroups(ctx, string(group)) // a group by KIP-848 is not found
	g := described[string(group)]
	if err != nil || g.Err != nil || len(g.Members) == 0 {
		return ""
	}
	configs, err := admin.DescribeBrokerConfigs(ctx, g.Coordinator.NodeID)
	if err != nil {
		return ""
	}
	for _, c := range configs {
		for _, v := range c.Configs {
			if v.Key != "group.consumer.migration.policy" || v.Value == nil {
				continue
			}
			if policy := strings.ToLower(*v.Value); policy == "disabled" || policy == "downgrade" {
				return fmt.Sprintf("the group has classic members, and the brokers' %s is %s", v.Key, policy)
			}
		}
	}
	return ""
}

// The pauses between tries to choose a protocol and make the client.
const (
	choosePause    = 200 * time.Millisecond
	choosePauseMax = 3 * time.Second
)

// dial chooses the protocol and makes the client, again and again until both succeed; it reports false when ctx ends.
func (f *Feed) dial(ctx context.Context) bool {
	for pause := choosePause; ; pause = min(2*pause, choosePauseMax) {
		choice, err := f.choose(ctx)
		if err == nil {
			f.client, err = f.config.Dial(f.options(choice.Protocol)...)
		}
		if err == nil {
			f.config.Log.Info("joining the group", "group", f.config.Group, "protocol", choice.Protocol.String(), "because", choice.Why)
			f.config.Metrics.GroupProtocol.Set(choice.Protocol.String())
			f.mu.Lock()
			f.problem = nil
			f.mu.Unlock()
			close(f.made)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		f.mu.Lock()
		if f.problem == nil || f.problem.Error() != err.Error() {
			f.config.Log.Warn("cannot join the group yet; trying again", "group", f.config.Group, "error", err)
		}
		f.problem, f.problemAt = err, time.Now()
		f.mu.Unlock()
		if !sleep(ctx, pause) {
			return false
		}
	}
}

func (f *Feed) choose(ctx context.Context) (Choice, error) {
	if f.config.Choose == nil {
		return Choice{Classic, "nothing else is asked for"}, nil
	}
	return f.config.Choose(ctx)
}
