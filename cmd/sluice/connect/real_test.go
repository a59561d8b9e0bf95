//go:build real

package connect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/kafkatest/broker"
)

// TestRealKafkaNamesEachMistake has a broker with access control; the user svc may read orders in the group
// sluice-orders and write orders-dlq, and nothing else.
func TestRealKafkaNamesEachMistake(t *testing.T) {
	k := kafkatest.Start(t, kafkatest.Options{Secure: true, Properties: map[string]string{
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":           "User:ANONYMOUS;User:CN=svc",
	}})
	for _, topic := range []string{"orders", "orders-dlq", "hidden"} {
		k.CreateTopic(topic, 1, nil)
	}
	login := k.Credentials()
	grant := func(acl *kadm.ACLBuilder) {
		t.Helper()
		granted, err := k.Admin().CreateACLs(t.Context(), acl.Allow("User:"+login.Username).ResourcePatternType(kadm.ACLPatternLiteral))
		if err != nil || granted[0].Err != nil {
			t.Fatal(err, granted)
		}
	}
	grant(kadm.NewACLs().Topics("orders").Operations(kadm.OpRead))
	grant(kadm.NewACLs().Topics("orders-dlq").Operations(kadm.OpWrite))
	grant(kadm.NewACLs().Groups("sluice-orders").Operations(kadm.OpRead))

	address := func(l broker.Listener) string { return k.Address(l)[0] }
	scram := func(password string) string {
		return fmt.Sprintf("{bootstrapServers: [%q], tls: {caFile: %s}, sasl: {mechanism: SCRAM-SHA-512, username: %s, password: %q}}",
			address(broker.SASLTLS), login.CAFile, login.Username, password)
	}
	granted, open := scram(login.Password), fmt.Sprintf("{bootstrapServers: [%q]}", address(broker.Plaintext))
	closed := closedPort(t)

	for _, c := range []struct{ name, cluster, mapping, want string }{
		{"what is right", granted, "topics: [orders], destinationConfig: {onFailure: {destination: \"kafka://orders-dlq\"}}", ""},
		{"in the clear, as a super user", open, "topics: [orders, hidden]", ""},
		{
			"mutual TLS", fmt.Sprintf("{bootstrapServers: [%q], tls: {caFile: %s, certFile: %s, keyFile: %s}}", address(broker.MutualTLS), login.CAFile, login.CertFile, login.KeyFile),
			"topics: [hidden]", "",
		},
		{
			"a wrong port", fmt.Sprintf("{bootstrapServers: [%q]}", closed), "topics: [orders]",
			fmt.Sprintf("clusters.main.bootstrapServers[0]: %q: nothing listens on the brokers' port; check bootstrapServers, and that the brokers are up", closed),
		},
		{
			"the port of another listener", fmt.Sprintf("{bootstrapServers: [%q]}", address(broker.TLS)), "topics: [orders]",
			"one side speaks TLS and the other does not; set or remove tls",
		},
		{"a wrong password", scram("wrong"), "topics: [orders]", "clusters.main.sasl: wrong user name or password; check sasl.username and sasl.password"},
		{
			"an authority that did not sign the brokers' certificate", fmt.Sprintf("{bootstrapServers: [%q], tls: {caFile: %s}}", address(broker.TLS), login.OtherCAFile),
			"topics: [orders]", "the brokers' certificate is not trusted; set tls.caFile to the authority",
		},
		{
			"a client certificate of another authority",
			fmt.Sprintf("{bootstrapServers: [%q], tls: {caFile: %s, certFile: %s, keyFile: %s}}", address(broker.MutualTLS), login.CAFile, login.OtherCertFile, login.OtherKeyFile),
			"topics: [orders]", "clusters.main.tls: \"" + address(broker.MutualTLS) + "\": the brokers refused the client certificate; check tls.certFile and tls.keyFile",
		},
		{
			"a missing topic", open, "topics: [ordrs]",
			`mappings[0].topics[0]: topic "ordrs" does not exist on cluster main (nearest: "orders"); create it or correct the name`,
		},
		{
			"a topic that may not be seen", granted, "topics: [hidden]",
			`mappings[0].topics[0]: user "svc" may not see topic "hidden" on cluster main, if there is one; grant Describe and Read on the topic, or correct the name`,
		},
		{
			"a topic that may be written alone", granted, "topics: [orders-dlq]",
			`mappings[0].topics[0]: user "svc" may not read topic "orders-dlq" on cluster main; grant Describe and Read on the topic`,
		},
		{
			"a group that may not be used", granted, "topics: [orders], consumerGroupId: others",
			`mappings[0].consumerGroupId: user "svc" may not use consumer group "others" on cluster main; grant Describe and Read on the group`,
		},
		{
			"a dead-letter topic that may not be written", granted, "topics: [orders], destinationConfig: {onFailure: {destination: \"kafka://hidden\"}}",
			`mappings[0].destinationConfig.onFailure.destination: user "svc" may not see topic "hidden" on cluster main, if there is one; grant Describe and Write on the topic, or correct the name`,
		},
		{
			"a dead-letter topic that is missing", open, "topics: [orders], destinationConfig: {onFailure: {destination: \"kafka://orders-dql\"}}",
			`topic "orders-dql" does not exist on cluster main (nearest: "orders-dlq"); create it or correct the name`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf("clusters:\n  main: %s\nfunctions: {f: {url: %q}}\nmappings:\n  - {name: orders, function: f, cluster: main, %s}\n", c.cluster, function(t), c.mapping)
			got := check(t, text, Options{})
			switch {
			case c.want == "" && got == nil:
			case c.want == "" || len(got) != 1 || !strings.Contains(got[0], c.want):
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), c.want)
			}
		})
	}
	// Nothing was left behind: no group, no record.
	if groups, err := k.Admin().ListGroups(t.Context()); err != nil || len(groups) != 0 {
		t.Errorf("groups %v, %v", groups.Groups(), err)
	}
	for tp, end := range k.EndOffsets("orders", "orders-dlq", "hidden") {
		if end != 0 {
			t.Errorf("%s ends at %d", tp, end)
		}
	}
}
