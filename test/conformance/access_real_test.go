//go:build real

package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/test/function"
	"github.com/sluicehq/sluice/test/kafkatest"
	"github.com/sluicehq/sluice/test/kafkatest/broker"
)

// Fault 127: access had to be granted after the fact, because the group could not be named beforehand. Here the user may read
// one topic in one group and write one dead-letter topic, and nothing else; a whole run needs no more, and touches no other
// group.
func TestAWholeRunWithAccessToOneGroup(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{Secure: true, Properties: map[string]string{
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":           "User:ANONYMOUS",
	}})
	login := c.Credentials()
	var allowed []string
	for _, protocol := range []mapping.GroupProtocol{mapping.GroupClassic, mapping.GroupConsumer} {
		t.Run(string(protocol), func(t *testing.T) {
			r := newRig(t, c, 3, function.Script{Rules: []function.Rule{{Action: function.Fail, Contains: poisonMark}}})
			allowed = append(allowed, string(r.group))
			for _, acl := range []*kadm.ACLBuilder{
				kadm.NewACLs().Topics(r.topic).Operations(kadm.OpRead),
				kadm.NewACLs().Topics(r.dlq).Operations(kadm.OpWrite),
				kadm.NewACLs().Groups(string(r.group)).Operations(kadm.OpRead),
			} {
				granted, err := c.Admin().CreateACLs(t.Context(), acl.Allow("User:"+login.Username).ResourcePatternType(kadm.ACLPatternLiteral))
				if err != nil || granted[0].Err != nil {
					t.Fatal(err, granted)
				}
			}
			r.produce(3, 300, 40)
			open := fmt.Sprintf("bootstrapServers: ['%s']", strings.Join(c.Bootstrap(), "','"))
			closed := fmt.Sprintf("bootstrapServers: ['%s'], tls: {caFile: '%s'}, sasl: {mechanism: SCRAM-SHA-512, username: '%s', password: '%s'}",
				strings.Join(c.Address(broker.SASLTLS), "','"), login.CAFile, login.Username, login.Password)
			yaml := strings.Replace(r.yaml(fast, "batchSize: 10", "maximumRetryAttempts: 1", "bisectBatchOnFunctionError: true", quick,
				r.withDLQ(), "groupProtocol: "+string(protocol)), open, closed, 1)
			for run := range 2 {
				p := start(t, yaml)
				p.until("it is ready and has read its lag", 30*time.Second, func() bool {
					st := p.status()
					return st.Ready && st.Lag != nil && *st.Lag == 0 && st.GroupProtocol == string(protocol)
				})
				if code := p.stop(); code != 0 {
					t.Errorf("exit code %d", code)
				}
				for line := range strings.Lines(p.log.String()) {
					if strings.Contains(line, "AUTHORIZATION") {
						t.Errorf("run %d: %s", run, line)
					}
				}
			}
			r.letters()
			if report := r.judge(); report.Taken != 299 || report.DeadLettered != 1 || report.Duplicates > 0 {
				t.Errorf("%d taken, %d dead-lettered, %d twice", report.Taken, report.DeadLettered, report.Duplicates)
			}
		})
	}
	groups, err := c.Admin().ListGroups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(slices.Values(groups.Groups())); !slices.Equal(got, slices.Sorted(slices.Values(allowed))) {
		t.Errorf("the cluster has the groups %v; granted were %v", got, allowed)
	}
}
