package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// SASL is a login. Secrets are read again for each new connection, and when a broker wants one to log in anew
// (KIP-368).
type SASL struct {
	// Mechanism is one of Mechanisms.
	Mechanism string
	// Username and Password are for PLAIN and SCRAM, and never empty there.
	Username string
	Password Secret
	// OAuth is for OAUTHBEARER, and never nil there. The clusters that share it share its token.
	OAuth *OAuth
	// IAM is for AWS_MSK_IAM, and never nil there. The clusters that share it share its credentials.
	IAM *IAM
}

// The SASL mechanisms, spelled as Kafka and MSK spell them.
const (
	Plain       = "PLAIN"
	ScramSHA256 = "SCRAM-SHA-256"
	ScramSHA512 = "SCRAM-SHA-512"
	OAuthBearer = "OAUTHBEARER"
	MSKIAM      = "AWS_MSK_IAM"
)

// Mechanisms lists the mechanisms that a Cluster may name.
func Mechanisms() []string { return []string{Plain, ScramSHA256, ScramSHA512, OAuthBearer, MSKIAM} }

// String tells mechanism and user.
func (s SASL) String() string {
	user := s.Username
	if s.OAuth != nil {
		user = s.OAuth.ClientID
	}
	if user == "" {
		return s.Mechanism
	}
	return s.Mechanism + " as " + user
}

// Format writes what String tells, whatever the verb. Without it, fmt would show the fields, password included, for
// a verb that does not fit them.
func (s SASL) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) } // fmt keeps its own error

// LogValue logs what String tells.
func (s SASL) LogValue() slog.Value { return slog.StringValue(s.String()) }

// check finds everything that is wrong without opening a file.
func (s *SASL) check() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case !slices.Contains(Mechanisms(), s.Mechanism):
		wrong("sasl.mechanism %q: allowed are %s", s.Mechanism, strings.Join(Mechanisms(), ", "))
	case s.Mechanism == OAuthBearer && s.OAuth == nil:
		wrong("sasl.tokenEndpointUrl: is empty")
	case s.Mechanism == OAuthBearer:
		errs = append(errs, s.OAuth.check())
	case s.Mechanism == MSKIAM && s.IAM == nil:
		wrong("sasl: %s has no credentials", MSKIAM)
	}
	if s.Mechanism != OAuthBearer && s.Mechanism != MSKIAM {
		if s.Username == "" {
			wrong("sasl.username: is empty")
		}
		if s.Password == nil {
			wrong("sasl.password: is empty")
		}
	}
	return errors.Join(errs...)
}

// clear says whether who listens to an unencrypted login can log in with what was heard.
func (s *SASL) clear() bool { return s.Mechanism == Plain || s.Mechanism == OAuthBearer }

// mechanism is nil for a login that check refuses. The error is of files.
func (s *SASL) mechanism(log *slog.Logger) (sasl.Mechanism, error) {
	scramAuth := func(context.Context) (scram.Auth, error) {
		return scram.Auth{User: s.Username, Pass: s.Password.reveal("sasl.password", log)}, nil
	}
	switch {
	case s.Mechanism == Plain:
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			return plain.Auth{User: s.Username, Pass: s.Password.reveal("sasl.password", log)}, nil
		}), nil
	case s.Mechanism == ScramSHA256:
		return scram.Sha256(scramAuth), nil
	case s.Mechanism == ScramSHA512:
		return scram.Sha512(scramAuth), nil
	case s.Mechanism == OAuthBearer && s.OAuth != nil:
		return s.OAuth.mechanism(log)
	case s.Mechanism == MSKIAM && s.IAM != nil:
		return s.IAM.mechanism(), nil
	}
	return nil, nil
}
