package mapping

import (
	"fmt"
	"regexp"
	"strings"
)

// DestinationURIMax is the longest destination address, in characters (AWS, OnFailure.Destination).
const DestinationURIMax = 350

// DestinationFormat is the form in which a dead letter is written to a Kafka topic.
type DestinationFormat string

// The destination formats.
const (
	// FormatRecord writes the record whole: key, value, headers, and headers of Sluice's that say where it came from. It is
	// the default of mappings in YAML.
	FormatRecord DestinationFormat = "record"
	// FormatAWS writes the JSON document that AWS Lambda writes.
	FormatAWS DestinationFormat = "aws"
)

// Destination is where records go that the mapping gives up. The zero value is nowhere.
type Destination struct {
	// URI is the address as configured; [ParseDestinationURI] takes it apart.
	URI string
	// Format is FormatRecord or FormatAWS where URI is set, else empty.
	Format DestinationFormat
}

// IsZero says whether there is no destination.
func (d Destination) IsZero() bool { return d.URI == "" }

// Address takes the destination's URI apart. Its error is that of [ParseDestinationURI]; a Mapping that was made by
// [Parse] has none.
func (d Destination) Address() (Address, error) { return ParseDestinationURI(d.URI) }

// DestinationKind is a kind of on-failure destination.
type DestinationKind string

// The kinds of destinations.
const (
	// DestinationTopic is a Kafka topic.
	DestinationTopic DestinationKind = "topic"
	// DestinationSQS is an SQS standard queue.
	DestinationSQS DestinationKind = "sqs"
	// DestinationSNS is an SNS standard topic.
	DestinationSNS DestinationKind = "sns"
	// DestinationS3 is an S3 bucket.
	DestinationS3 DestinationKind = "s3"
)

// Address is a destination's URI taken apart.
type Address struct {
	Kind DestinationKind
	// Cluster and Topic are set for DestinationTopic; an empty Cluster is the mapping's own.
	Cluster ClusterName
	Topic   string
	// ARN is set for DestinationSQS and DestinationSNS.
	ARN string
	// Bucket is set for DestinationS3.
	Bucket string
}

// destinationForms is what an error says is allowed.
const destinationForms = "kafka://TOPIC, kafka://CLUSTER/TOPIC, the ARN of an SQS queue, an SNS topic or an S3 bucket, or s3://BUCKET"

var (
	queueOrTopicARN = regexp.MustCompile(`^arn:aws[a-z-]*:(sqs|sns):[a-z0-9-]+:[0-9]{12}:([a-zA-Z0-9_-]{1,256})(\.fifo)?$`)
	bucketARN       = regexp.MustCompile(`^(?:arn:aws[a-z-]*:s3:::|s3://)([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])$`)
)

// ParseDestinationURI takes the address of an on-failure destination apart (AWS, CreateEventSourceMapping,
// DestinationConfig; «kafka://cluster/topic» and «s3://bucket» are Sluice's). The error says what is wrong and what is
// allowed, without the place and without repeating the address.
func ParseDestinationURI(uri string) (Address, error) {
	if len(uri) > DestinationURIMax {
		return Address{}, fmt.Errorf("is longer than %d characters", DestinationURIMax)
	}
	if rest, ok := strings.CutPrefix(uri, "kafka://"); ok {
		return parseTopicAddress(rest)
	}
	if m := queueOrTopicARN.FindStringSubmatch(uri); m != nil {
		if m[3] != "" {
			return Address{}, fmt.Errorf("is a FIFO queue or topic, which is refused as at AWS; allowed: standard ones")
		}
		return Address{Kind: DestinationKind(m[1]), ARN: uri}, nil
	}
	if m := bucketARN.FindStringSubmatch(uri); m != nil {
		return Address{Kind: DestinationS3, Bucket: m[1]}, nil
	}
	return Address{}, fmt.Errorf("is not a destination; allowed: %s", destinationForms)
}

// parseTopicAddress takes what stands behind «kafka://» apart.
func parseTopicAddress(rest string) (Address, error) {
	cluster, topic, two := strings.Cut(rest, "/")
	if !two {
		cluster, topic = "", rest
	} else if !entryName.MatchString(cluster) {
		return Address{}, fmt.Errorf("names no cluster between kafka:// and the next slash; allowed: kafka://TOPIC or kafka://CLUSTER/TOPIC")
	}
	if why := WrongTopicName(topic); why != "" {
		return Address{}, fmt.Errorf("has a topic that %s", why)
	}
	return Address{Kind: DestinationTopic, Cluster: ClusterName(cluster), Topic: topic}, nil
}
