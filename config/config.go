package config

import (
	"time"

	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/mapping/field"
)

// Config is a valid configuration, complete: every default is filled in. It is never changed after [Load] made it.
type Config struct {
	Server    Server
	Clusters  map[mapping.ClusterName]Cluster
	Functions map[mapping.FunctionName]Function
	// Mappings are in the order of the files and within them. Their names are unique, their clusters and functions exist.
	Mappings []mapping.Mapping
	// Files are all files that were read: YAML, those of «${file:…}», certificates and keys. A change of one may change the
	// configuration.
	Files []string

	values map[string]located
}

// Server is the service itself.
type Server struct {
	// Listen is a loopback address with its port; port 0 is a free one.
	Listen string
	// DrainTimeout bounds drains; 0 waits for nothing.
	DrainTimeout time.Duration
	// MemoryLimit is in bytes; 0 leaves it to the environment and the machine.
	MemoryLimit int64
}

// Cluster is a Kafka cluster.
type Cluster struct {
	Name mapping.ClusterName
	// BootstrapServers are 1 to 10 addresses, host and port.
	BootstrapServers []string
	// TLS is nil for connections in the clear.
	TLS *TLS
	// SASL is nil for no authentication.
	SASL *SASL
	// ARN is that of an MSK cluster, or empty: then events say SelfManagedKafka.
	ARN string
	// Place is where the cluster is declared.
	Place field.Place
}

// TLS says whom to trust and how to show oneself, towards a cluster or a function. File names are complete: what was relative to the configuration's file is
// relative to the working directory here. The files existed and held what they should when the configuration was loaded.
type TLS struct {
	// CAFile holds the trusted authorities (PEM); empty trusts the system's.
	CAFile string
	// CertFile and KeyFile are both set, for mutual TLS, or both empty.
	CertFile, KeyFile string
	// ServerName is the name that certificates must have; empty is the host dialled.
	ServerName string
}

// SASL authenticates to a cluster.
type SASL struct {
	Mechanism Mechanism
	// Username and Password are for PLAIN and SCRAM.
	Username string
	Password Secret
	// OAuth is for OAUTHBEARER, and nil otherwise.
	OAuth *OAuth
	// Region is for AWS_MSK_IAM; empty is that of the broker's host name, or of the environment.
	Region string
}

// OAuth is how tokens are got, by the client-credentials grant.
type OAuth struct {
	// TokenEndpointURL is an https URL, or http on a loopback address.
	TokenEndpointURL string
	// TokenEndpointCAFile is as TLS.CAFile.
	TokenEndpointCAFile string
	ClientID            string
	ClientSecret        Secret
	// Scope is words with a space between them; Scope and Audience may be empty.
	Scope, Audience string
	// Extensions are at most 20, and none is called auth.
	Extensions map[string]string
}

// Function is what a mapping invokes.
type Function struct {
	Name mapping.FunctionName
	// URL is an absolute http or https URL without user name and fragment.
	URL string
	// Timeout bounds one invocation, 1 ms to 15 min.
	Timeout        time.Duration
	ErrorDetection ErrorDetection
	// MaxConcurrency bounds the invocations at once over all mappings; 0 is no bound.
	MaxConcurrency int
	// OutageProtection says that many batches failing alike count as an outage.
	OutageProtection bool
	// Headers are sent with each request, at most 100, with at most HeaderBytesMax in all.
	Headers map[string]Secret
	// TLS is nil for the system's authorities and no client certificate.
	TLS *TLS
	// Place is where the function is declared.
	Place field.Place
}

// Mapping returns the mapping with that name or UUID, and whether there is one.
func (c *Config) Mapping(nameOrUUID string) (mapping.Mapping, bool) {
	for _, m := range c.Mappings {
		if string(m.Name) == nameOrUUID || string(m.UUID) == nameOrUUID {
			return m, true
		}
	}
	return mapping.Mapping{}, false
}
