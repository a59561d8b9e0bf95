package config

import (
	"github.com/sluicehq/sluice/mapping/field"
)

// Mechanism is a SASL mechanism.
type Mechanism string

// The SASL mechanisms that are supported.
const (
	// Plain sends the password as it is; use it over TLS.
	Plain Mechanism = "PLAIN"
	// ScramSHA256 proves to know the password (RFC 7677).
	ScramSHA256 Mechanism = "SCRAM-SHA-256"
	// ScramSHA512 does so with the longer hash.
	ScramSHA512 Mechanism = "SCRAM-SHA-512"
)

var mechanisms = []string{string(Plain), string(ScramSHA256), string(ScramSHA512), "OAUTHBEARER", "AWS_MSK_IAM"}

// byPassword holds for the mechanisms that have a user name and a password.
var byPassword = field.Is("sasl.mechanism", string(Plain), string(ScramSHA256), string(ScramSHA512))

var clusterType = scope([]field.Field{
	{
		Name: "bootstrapServers", AWS: "SelfManagedEventSource.Endpoints.KAFKA_BOOTSTRAP_SERVERS", Required: true,
		Type: field.Type{Kind: field.KindList, Elem: ptr(hostPortType("a host and port, such as broker1:9092", 1)), Min: 1, Max: 10, Unique: true},
		Doc:  "Up to 10 brokers to begin with; the others are learned from them.", Source: "AWS, SelfManagedEventSource",
	},
	{
		Name: "tls", AWS: "SourceAccessConfigurations (SERVER_ROOT_CA_CERTIFICATE, CLIENT_CERTIFICATE_TLS_AUTH)",
		Type: field.Object(
			field.Field{
				Name: "caFile", Type: fileType(), DefaultNote: "the system's",
				Doc: "The certificates (PEM) of the authorities that the brokers are trusted by.",
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
				Name: "serverName", Type: field.String(1, 253, `^[a-zA-Z0-9._:-]+$`, "a host name"), DefaultNote: "the broker's host",
				Doc: "The name that the brokers' certificates must have.",
			},
		),
		DefaultNote: "no TLS", Doc: "Encrypts the connections; `{}` trusts the system's authorities.",
		Source: "AWS, SourceAccessConfiguration",
	},
	{
		Name: "sasl", AWS: "SourceAccessConfigurations (BASIC_AUTH, SASL_SCRAM_256_AUTH, SASL_SCRAM_512_AUTH)",
		Type: field.Object(
			field.Field{
				Name: "mechanism", Type: field.Enum(mechanisms...), Required: true,
				NotYet: &field.NotYet{Values: mechanisms[3:]},
				Doc:    "How to authenticate.",
			},
			field.Field{
				Name: "username", Type: field.String(1, 1024, "", ""), RequiredWhen: []field.Requirement{{When: byPassword, Why: "with PLAIN and SCRAM"}},
				Doc: "The user.",
			},
			field.Field{
				Name: "password", Type: secretType(), RequiredWhen: []field.Requirement{{When: byPassword, Why: "with PLAIN and SCRAM"}},
				Doc: "The password; best `${NAME}` or `${file:PATH}`.",
			},
		),
		DefaultNote: "no authentication", Doc: "Authenticates with SASL.", Source: "AWS, SourceAccessConfiguration",
	},
	{
		Name: "arn", AWS: "EventSourceArn",
		Type: field.String(1, 2048, `^arn:aws[a-z-]*:kafka:[a-z0-9-]+:[0-9]{12}:cluster/[a-zA-Z0-9-]+/[a-zA-Z0-9-]+$`, "the ARN of an MSK cluster"),
		Doc:  "The ARN of an MSK cluster: events then say `aws:kafka` with this as their eventSourceArn.", Source: "AWS, Amazon MSK event",
	},
})

func ptr(t field.Type) *field.Type { return &t }
