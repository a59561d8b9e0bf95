package broker

// Listener is a way to reach the brokers. Plaintext is always open, Proxied with Config.Proxied, the others with
// Config.Secure.
type Listener int

// The listeners. All verify with the certificates of Credentials where TLS is involved.
const (
	Plaintext     Listener = iota
	SASLPlaintext          // PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512
	SASLTLS                // the same over TLS
	TLS                    // the server shows a certificate, the client none
	MutualTLS              // the client must show a certificate too
	Proxied                // as Plaintext, but advertised under an address where somebody else must listen: see Behind
)

// listenerNames are the names in server.properties; a listener's own settings carry them in small letters.
var listenerNames = [...]string{"PLAINTEXT", "SASLPLAIN", "SASLTLS", "TLS", "MTLS", "PROXIED"}

// protocols are Kafka's names of what is spoken on each.
var protocols = [...]string{"PLAINTEXT", "SASL_PLAINTEXT", "SASL_SSL", "SSL", "SSL", "PLAINTEXT"}

func (l Listener) String() string { return listenerNames[l] }

func (l Listener) sasl() bool { return l == SASLPlaintext || l == SASLTLS }

// listeners are the ones that are open.
func (c Config) listeners() []Listener {
	open := []Listener{Plaintext}
	if c.Secure {
		open = append(open, SASLPlaintext, SASLTLS, TLS, MutualTLS)
	}
	if c.Proxied {
		open = append(open, Proxied)
	}
	return open
}

// Credentials are what a client needs for the secure listeners. The files are PEM.
type Credentials struct {
	Username, Password              string
	CAFile, CertFile, KeyFile       string
	OtherCertFile, OtherKeyFile     string // signed by a CA that the brokers do not know
	OtherCAFile                     string // that CA
	serverKeystore, serverTrustFile string
}
