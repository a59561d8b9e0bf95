package mapping

import (
	"github.com/sluicehq/sluice/mapping/field"
)

var filterFields = []field.Field{
	{
		Name: "filterCriteria", AWS: "FilterCriteria",
		Type: field.Object(field.Field{
			Name: "filters", AWS: "FilterCriteria.Filters",
			Type: field.List(field.Object(field.Field{
				Name: "pattern", AWS: "FilterCriteria.Filters[].Pattern", Type: field.Any(), Required: true,
				Doc: "One pattern, as YAML or as JSON text of up to 4096 characters.",
			}), 0, 5),
			Doc: "Up to 5 patterns, joined by «or».",
		}),
		Doc: "A record is delivered if one of the patterns matches it; others are filtered out and settled. No pattern lets " +
			"everything pass. The language: [FILTERS.md](FILTERS.md).",
		Source: "AWS, CreateEventSourceMapping, FilterCriteria; Lambda developer guide, event filtering",
	},
	{
		Name: "filterMismatch", Type: enumOf(FilterMismatchPass, FilterMismatchDrop), Default: string(FilterMismatchPass),
		Doc: "What happens to a record whose format (JSON or text) does not fit the pattern: `pass` as AWS documents it, or " +
			"`drop`.",
	},
	{
		Name: "kmsKeyArn", AWS: "KMSKeyArn",
		Type:   field.String(0, 2048, `^(arn:aws[a-z-]*:kms:.+)?$`, "the ARN of a KMS key, or empty"),
		NotYet: &field.NotYet{What: "encryption of filters", EmptyIsFine: true},
		Doc:    "The KMS key that encrypts the filter criteria at rest.",
		Source: "AWS, CreateEventSourceMapping, KMSKeyArn",
	},
	{
		Name: "schemaRegistryConfig", AWS: "SelfManagedKafkaEventSourceConfig.SchemaRegistryConfig", Type: schemaRegistryType,
		NotYet: &field.NotYet{What: "a schema registry"},
		Doc:    "Turns keys and values that were written with a schema (Avro, Protobuf, JSON Schema) into JSON.",
		Source: "AWS, KafkaSchemaRegistryConfig",
	},
}

var schemaRegistryType = field.Object(
	field.Field{
		Name: "schemaRegistryURI", AWS: "SchemaRegistryConfig.SchemaRegistryURI", Required: true,
		Type: field.String(1, 10000, `^(https?://.+|arn:aws[a-z-]*:glue:.+)$`, "an http or https URL, or the ARN of a Glue registry"),
		Doc:  "The registry: an AWS Glue registry's ARN, or the URL of a Confluent-compatible one.",
	},
	field.Field{
		Name: "eventRecordFormat", AWS: "SchemaRegistryConfig.EventRecordFormat", Type: field.Enum("JSON", "SOURCE"), Required: true,
		Doc: "`JSON` delivers the attribute as JSON, `SOURCE` its original bytes without the schema header.",
	},
	field.Field{
		Name: "accessConfigs", AWS: "SchemaRegistryConfig.AccessConfigs",
		Type: field.List(field.Object(
			field.Field{
				Name: "type", AWS: "AccessConfigs[].Type", Required: true,
				Type: field.Enum("BASIC_AUTH", "CLIENT_CERTIFICATE_TLS_AUTH", "SERVER_ROOT_CA_CERTIFICATE", "OAUTHBEARER_AUTH"),
				Doc:  "The kind of secret.",
			},
			field.Field{
				Name: "uri", AWS: "AccessConfigs[].URI", Required: true,
				Type: field.String(1, 10000, `^arn:aws[a-z-]*:secretsmanager:.+$`, "the ARN of a secret"), Doc: "The secret.",
			},
		), 0, 2),
		Doc: "How to authenticate to the registry; none for a Glue registry.",
	},
	field.Field{
		Name: "schemaValidationConfigs", AWS: "SchemaRegistryConfig.SchemaValidationConfigs", Required: true,
		Type: field.List(field.Object(field.Field{
			Name: "attribute", AWS: "SchemaValidationConfigs[].Attribute", Type: field.Enum("KEY", "VALUE"), Required: true,
			Doc: "The attribute that is validated and decoded.",
		}), 1, 2),
		Doc: "Which of key and value have a schema.",
	},
)

// patternText returns a filter pattern as JSON text; the failure says why it cannot be one, without repeating it.
func patternText(n *field.Node) (text, failure string) {
	text = n.Text
	if n.Kind == field.Dictionary {
		var err error
		if text, err = n.JSON(); err != nil {
			return "", err.Error()
		}
	} else if n.Kind != field.Text {
		return "", n.Shown() + " is not a pattern; allowed: an object, or its JSON in a string"
	}
	return text, ""
}
