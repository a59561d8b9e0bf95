package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Explain says in one line what an error of a Kafka client means, and what the operator can do about it, which may be
// empty. The reasons are a closed set and hold no names or addresses: they can stand in a status or a metric. The
// error itself stands beside them, for the details. Without an error both are empty.
func Explain(err error) (reason, hint string) {
	if err == nil {
		return "", ""
	}
	if e, ok := errors.AsType[explained](err); ok {
		return e.Explain()
	}
	for _, explain := range []func(error) (string, string){explainToken, explainIAM, explainReply, explainTLS, explainNetwork} {
		if reason, hint = explain(err); reason != "" {
			return reason, hint
		}
	}
	return "the Kafka request failed", ""
}

// explained is an error that explains itself.
type explained interface {
	error
	Explain() (reason, hint string)
}

// Blame says which key of a cluster an error of its client is about: sasl, tls, or bootstrapServers, which is also the
// answer where it cannot be told.
func Blame(err error) string {
	token, _ := explainToken(err)
	iam, _ := explainIAM(err)
	if token != "" || iam != "" {
		return "sasl"
	}
	for _, code := range []error{kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState} {
		if errors.Is(err, code) {
			return "sasl"
		}
	}
	if reason, _ := explainTLS(err); reason != "" && reason != wrongTLS {
		return "tls"
	}
	return "bootstrapServers"
}

// Unreachable says whether an error is of the way to the brokers: they were not reached, or did not answer.
func Unreachable(err error) bool {
	reason, _ := explainNetwork(err)
	return reason != "" && !errors.Is(err, kgo.ErrClientClosed) && !errors.Is(err, context.Canceled) && !errors.Is(err, kgo.ErrRecordTimeout)
}

// explainReply knows what brokers answer.
func explainReply(err error) (reason, hint string) {
	for _, r := range replies {
		if errors.Is(err, r.err) {
			return r.reason, r.hint
		}
	}
	return "", ""
}

const (
	wrongPassword = "wrong user name or password"
	missingTopic  = "the topic does not exist"
	checkLogin    = "check sasl.username and sasl.password, or what else the mechanism logs in with, and that the brokers know the user by this mechanism"
)

var replies = []struct {
	err          error
	reason, hint string
}{
	{kerr.SaslAuthenticationFailed, wrongPassword, checkLogin},
	{
		kerr.UnsupportedSaslMechanism, "the brokers do not offer this SASL mechanism",
		"set sasl.mechanism to one of the listener's sasl.enabled.mechanisms",
	},
	{
		kerr.IllegalSaslState, "the brokers expect no SASL login here",
		"remove sasl, or use the address of a SASL listener",
	},
	{
		kerr.CoordinatorNotAvailable, "the group's coordinator is not there yet",
		"this passes: a broker that has just started makes the topic of the groups' offsets first",
	},
	{kerr.CoordinatorLoadInProgress, "the group's coordinator is loading", "this passes"},
	{kerr.NotCoordinator, "the group's coordinator is moving to another broker", "this passes"},
	{
		kerr.LeaderNotAvailable, "a partition has no leader",
		"this passes with a topic that was made just now or a broker that restarts; else bring the missing brokers back",
	},
	{kerr.NotLeaderForPartition, "a partition's leader is moving to another broker", "this passes"},
	{
		kerr.InconsistentGroupProtocol, "another consumer of this group speaks another protocol",
		"stop the other consumer, or set consumerGroupId to a group that only Sluice uses",
	},
	{
		kerr.GroupIDNotFound, "the group is of another protocol than groupProtocol",
		"set groupProtocol: auto, or let the group's other members leave first",
	},
	{kerr.UnknownTopicOrPartition, missingTopic, "create the topic, or correct its name; names are case-sensitive"},
	{kerr.UnknownTopicID, missingTopic, "the topic was deleted; create it again"},
	{kerr.InvalidTopicException, "the topic name is not valid", "use 1 to 249 of a-z, A-Z, 0-9, dot, underscore and hyphen"},
	{
		kerr.TopicAuthorizationFailed, "not allowed on the topic",
		"grant the user Describe and Read on source topics, Describe and Write on a dead-letter topic",
	},
	{
		kerr.GroupAuthorizationFailed, "not allowed in the group",
		"grant the user Describe and Read on the consumer group",
	},
	{
		kerr.ClusterAuthorizationFailed, "not allowed on the cluster",
		"grant the user Describe on the cluster; with brokers below 3.0 also IdempotentWrite, to produce dead letters",
	},
	{
		kerr.TransactionalIDAuthorizationFailed, "not allowed with this transactional id",
		"grant the user Describe and Write on the transactional id",
	},
	{kerr.MessageTooLarge, "the record is too large for the topic", "raise the topic's max.message.bytes"},
	{
		kerr.InvalidRecord, "the topic does not take this record",
		"a compacted topic wants a key; a broker may also validate schemas",
	},
	{
		kerr.NotEnoughReplicas, "not enough brokers are in sync to accept a write",
		"bring the missing brokers back, or lower the topic's min.insync.replicas",
	},
	{
		kerr.NotEnoughReplicasAfterAppend, "not enough brokers are in sync to accept a write",
		"bring the missing brokers back, or lower the topic's min.insync.replicas",
	},
}

const (
	wrongCA       = "the brokers' certificate is not trusted"
	refusedCert   = "the brokers refused the client certificate"
	wrongTLS      = "one side speaks TLS and the other does not"
	checkListener = "set or remove tls as the listener of this port needs it"
)

// explainTLS knows how handshakes fail, on our side and, by the alert, on the brokers'.
func explainTLS(err error) (reason, hint string) {
	if host, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the brokers' certificate is for another host name",
			"use an address that the certificate names, or set tls.serverName; asked for " + host.Host
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "the brokers' certificate has expired or is not valid yet", "renew it, and check this machine's clock"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return wrongCA, "set tls.caFile to the authority that signed the brokers' certificates"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" { // crypto/tls, for an alert received
		return refusedCert, "check tls.certFile and tls.keyFile: the authority must be in the brokers' truststore, and the certificate in date"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return wrongTLS, checkListener
	}
	if strings.Contains(err.Error(), "appear to be a tls alert record") { // kgo has no type for it; a test watches
		return wrongTLS, checkListener
	}
	return "", ""
}

const closedAtOnce = "the brokers closed the connection at once"

// explainNetwork knows how a connection fails, or breaks before the brokers have said anything.
func explainNetwork(err error) (reason, hint string) {
	if _, ok := errors.AsType[*kgo.ErrFirstReadEOF](err); ok {
		return closedAtOnce,
			"this happens when the listener of this port wants TLS or a SASL login that is not configured, or the other way round"
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return "a broker's host name is unknown", "check bootstrapServers and the brokers' advertised.listeners: " + dns.Name
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens on the brokers' port", "check bootstrapServers, and that the brokers are up"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to the brokers", "check the network and its firewalls"
	case errors.Is(err, errHung), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), timedOut(err):
		return "the brokers do not answer", "check the network and its firewalls, and the brokers' load"
	case errors.Is(err, kgo.ErrRecordTimeout): // last, for it may wrap what held the record up
		return "the brokers did not confirm the record in time",
			"check that the topic's partitions have a leader and that the brokers are up"
	case errors.Is(err, kgo.ErrClientClosed), errors.Is(err, context.Canceled):
		return "the request was given up", ""
	}
	return "", ""
}

func timedOut(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
