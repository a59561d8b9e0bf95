package mapping

import (
	"regexp"

	"github.com/google/uuid"
)

// Name is the name of a mapping: 1 to 128 letters, digits, dots, underscores and hyphens, beginning with a letter or a digit.
// It is unique within a service.
type Name string

// FunctionName is the name of an entry of the configuration's functions block.
type FunctionName string

// ClusterName is the name of an entry of the configuration's clusters block.
type ClusterName string

// UUID identifies a mapping in the API, in metrics and in logs: 36 characters, lower case where Sluice makes it.
type UUID string

// uuidNamespace is UUIDv5(DNS namespace, "event-source-mapping.sluice"). It may never change: the UUIDs of all mappings
// in YAML, and with them what callers of the API have stored, hang on it.
var uuidNamespace = uuid.MustParse("64a0250e-78aa-55bf-8d2b-0b5b1d557f84")

// UUIDFromName returns the UUID of a mapping declared in YAML: UUIDv5 (RFC 9562, section 5.5) of its name in Sluice's fixed
// namespace, so that a mapping keeps its UUID over restarts and machines, and a renamed one gets another.
func UUIDFromName(name Name) UUID {
	return UUID(uuid.NewSHA1(uuidNamespace, []byte(name)).String())
}

// DefaultConsumerGroupID returns the consumer group of a mapping that names none: "sluice-" and the mapping's name.
func DefaultConsumerGroupID(name Name) string {
	return "sluice-" + string(name)
}

// entryName is what the names of mappings, functions and clusters look like.
var entryName = regexp.MustCompile(EntryNamePattern)

// EntryNamePattern is the pattern of the names of mappings, functions and clusters. Slashes and blanks are
// kept out because names stand in URLs, consumer groups, metrics and destinations.
const EntryNamePattern = `^[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$`

// IsEntryName says whether text can be the name of a mapping, a function or a cluster.
func IsEntryName(text string) bool { return entryName.MatchString(text) }
