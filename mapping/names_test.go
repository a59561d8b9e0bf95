package mapping

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

func TestTheUUIDOfANameNeverChanges(t *testing.T) {
	if want := uuid.NewSHA1(uuid.NameSpaceDNS, []byte("event-source-mapping.sluice")); uuidNamespace != want {
		t.Errorf("the namespace is %s, not %s as its comment says", uuidNamespace, want)
	}
	if got := UUIDFromName("orders"); got != "c794f095-cf54-57fd-a288-9d6630f8e7f9" {
		t.Errorf("orders is %s now: every stored UUID would be another", got)
	}
	if UUIDFromName("orders") == UUIDFromName("Orders") {
		t.Error("names that differ in case have one UUID")
	}
}

func TestTopicNames(t *testing.T) {
	cases := map[string]bool{
		"a": true, "orders": true, ".hidden": true, "...": true, "A-b_c.9": true, strings.Repeat("a", 249): true,
		"": false, ".": false, "..": false, "a b": false, "a/b": false, "ä": false, strings.Repeat("a", 250): false,
	}
	for name, good := range cases {
		if why := WrongTopicName(name); (why == "") != good {
			t.Errorf("%.20q: got %q, want it to be good: %v", name, why, good)
		}
		// The table's pattern and Kafka's rule are two texts of one thing.
		fits := fields.Field("topics").Type.Elem
		if got := fits.Pattern.MatchString(name); name != "" && len(name) <= TopicNameMax && got != good {
			t.Errorf("%.20q: the table's pattern says %v, want %v", name, got, good)
		}
	}
}

func TestDestinationAddresses(t *testing.T) {
	cases := []struct {
		uri  string
		want Address
		bad  string
	}{
		{uri: "kafka://orders-dlq", want: Address{Kind: DestinationTopic, Topic: "orders-dlq"}},
		{uri: "kafka://main/orders-dlq", want: Address{Kind: DestinationTopic, Cluster: "main", Topic: "orders-dlq"}},
		{uri: "arn:aws:sqs:eu-west-1:123456789012:q", want: Address{Kind: DestinationSQS, ARN: "arn:aws:sqs:eu-west-1:123456789012:q"}},
		{uri: "arn:aws-cn:sns:cn-north-1:123456789012:t", want: Address{Kind: DestinationSNS, ARN: "arn:aws-cn:sns:cn-north-1:123456789012:t"}},
		{uri: "arn:aws:s3:::dead-letters", want: Address{Kind: DestinationS3, Bucket: "dead-letters"}},
		{uri: "s3://dead-letters", want: Address{Kind: DestinationS3, Bucket: "dead-letters"}},
		{uri: "arn:aws:sqs:eu-west-1:123456789012:q.fifo", bad: "FIFO"},
		{uri: "kafka://", bad: "is empty"},
		{uri: "kafka:///t", bad: "names no cluster"},
		{uri: "kafka://a/b/c", bad: "holds a character"},
		{uri: "kafka://..", bad: "Kafka refuses"},
		{uri: "kafka://" + strings.Repeat("a", 343), bad: "longer than 350"},
		{uri: "https://example.com/", bad: "is not a destination"},
		{uri: "", bad: "is not a destination"},
		{uri: "s3://A", bad: "is not a destination"},
	}
	for _, c := range cases {
		got, err := ParseDestinationURI(c.uri)
		switch {
		case c.bad == "" && (err != nil || got != c.want):
			t.Errorf("%s: got %+v, %v, want %+v", c.uri, got, err, c.want)
		case c.bad != "" && (err == nil || !strings.Contains(err.Error(), c.bad)):
			t.Errorf("%.40s: got %+v, %v, want an error with %q", c.uri, got, err, c.bad)
		}
		// What the table's pattern takes is what the parser takes, but for what the table names as beyond it.
		pattern := onFailureType.Field("destination").Type.Pattern
		if fits := pattern.MatchString(c.uri); err == nil && !fits {
			t.Errorf("%s: the table's pattern refuses it", c.uri)
		}
	}
}

func FuzzParseDestinationURI(f *testing.F) {
	for _, seed := range []string{"kafka://a", "kafka://a/b", "s3://abc", "arn:aws:s3:::abc", "arn:aws:sqs:eu-west-1:123456789012:q.fifo"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		a, err := ParseDestinationURI(uri)
		if err != nil {
			if a != (Address{}) {
				t.Errorf("%q: an error and %+v", uri, a)
			}
			return
		}
		// Parse, print, parse.
		printed := a.ARN
		switch {
		case a.Kind == DestinationTopic && a.Cluster != "":
			printed = "kafka://" + string(a.Cluster) + "/" + a.Topic
		case a.Kind == DestinationTopic:
			printed = "kafka://" + a.Topic
		case a.Kind == DestinationS3:
			printed = "s3://" + a.Bucket
		}
		if again, err := ParseDestinationURI(printed); err != nil || again != a {
			t.Errorf("%q: got %+v, %v after printing %q, want %+v", uri, again, err, printed, a)
		}
	})
}
