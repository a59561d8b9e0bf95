package config

import (
	"github.com/sluicehq/sluice/mapping/field"
)

// Mechanism is a SASL mechanism.
type Mechanism string

// The SASL mechanisms.
const (
	// Plain sends the password as it is; use it over TLS.
	Plain Mechanism = "PLAIN"
	// ScramSHA256 proves to know the password (RFC 7677).
	ScramSHA256 Mechanism = "SCRAM-SHA-256"
	// ScramSHA512 does so with the longer hash.
	ScramSHA512 Mechanism = "SCRAM-SHA-512"
	// OAuthBearer shows a token that an identity provider gave (RFC 7628).
	OAuthBearer Mechanism = "OAUTHBEARER"
	// MSKIAM shows a request that is signed with AWS credentials (Amazon MSK, IAM access control).
	MSKIAM Mechanism = "AWS_MSK_IAM"
)

var mechanisms = []string{string(Plain), string(ScramSHA256), string(ScramSHA512), string(OAuthBearer), string(MSKIAM)}

var clusterType = scope([]field.Field{
	{
		Name: "bootstrapServers", AWS: "SelfManagedEventSource.Endpoints.KAFKA_BOOTSTRAP_SERVERS", Required: true,
		Type: field.Type{Kind: field.KindList, Elem: ptr(hostPortType("a host and port, such as broker1:9092", 1)), Min: 1, Max: 10, Unique: true},
		Doc:  "Up to 10 brokers to begin with; the others are learned from them.", Source: "AWS, SelfManagedEventSource",
	},
	{
		Name: "tls", AWS: "SourceAccessConfigurations (SERVER_ROOT_CA_CERTIFICATE, CLIENT_CERTIFICATE_TLS_AUTH)",
		Type:        tlsType("the brokers", "the broker's host"),
		DefaultNote: "no TLS", Doc: "Encrypts the connections; `{}` trusts the system's authorities. The files are read again when they change.",
		Source: "AWS, SourceAccessConfiguration",
	},
	saslField,
	{
		Name: "arn", AWS: "EventSourceArn",
		Type: field.String(1, 2048, `^arn:aws[a-z-]*:kafka:[a-z0-9-]+:[0-9]{12}:cluster/[a-zA-Z0-9-]+/[a-zA-Z0-9-]+$`, "the ARN of an MSK cluster"),
		Doc:  "The ARN of an MSK cluster: events then say `aws:kafka` with this as their eventSourceArn.", Source: "AWS, Amazon MSK event",
	},
}, noAuthExtension)

// tlsType is the type of a client's tls block towards those, whose certificates name host where nothing else is said. It
// stands in a scope under the name tls.
func tlsType(those, host string) field.Type {
	return field.Object(
		field.Field{
			Name: "caFile", Type: fileType(), DefaultNote: "the system's",
			Doc: "The certificates (PEM) of the authorities by which " + those + " are trusted.",
		},
		field.Field{
			Name: "certFile", Type: fileType(), RequiredWhen: []field.Requirement{{When: field.Has("tls.keyFile"), Why: "with keyFile"}},
			Doc: "The client's certificate chain (PEM, its own first), for mutual TLS.",
		},
		field.Field{
			Name: "keyFile", Type: fileType(), RequiredWhen: []field.Requirement{{When: field.Has("tls.certFile"), Why: "with certFile"}},
			Doc: "The key (PEM, not encrypted) of the client's certificate.",
		},
		field.Field{
			Name: "serverName", Type: field.String(1, 253, `^[a-zA-Z0-9._:-]+$`, "a host name"), DefaultNote: host,
			Doc: "The name that the certificates of " + those + " must have.",
		},
	)
}

func ptr(t field.Type) *field.Type { return &t }
