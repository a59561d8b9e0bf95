package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/twmb/franz-go/pkg/sasl"
	mskiam "github.com/twmb/franz-go/pkg/sasl/aws"
)

const (
	// credentialsTimeout bounds a request for credentials; connections wait for it.
	credentialsTimeout = 10 * time.Second
	// signatureLifetime is how long a signed login may take to arrive, in seconds (aws-msk-iam-auth).
	signatureLifetime = "900"
	// emptyHash is the SHA-256 of a request without a body.
	emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// IAM logs in to Amazon MSK with AWS credentials, found as every AWS SDK finds them: environment, shared files, web
// identity, container, instance. They are cached and renewed before they end. It is shared by pointer.
type IAM struct {
	// Region is the cluster's. Empty: what the broker's host name says, or else AWS_REGION or AWS_DEFAULT_REGION.
	Region string
	// Credentials replace the SDK's chain; for tests.
	Credentials aws.CredentialsProvider

	mu sync.Mutex // while Credentials are made
}

// userAgent is how MSK's logs and policies (aws:UserAgent) see us.
const userAgent = ClientID

func (i *IAM) mechanism() sasl.Mechanism { return iamMechanism{i} }

type iamMechanism struct{ iam *IAM }

// Name is the mechanism's.
func (m iamMechanism) Name() string { return MSKIAM }

// Authenticate begins a login at the broker address, host:port; the signature names the host.
func (m iamMechanism) Authenticate(ctx context.Context, address string) (sasl.Session, []byte, error) {
	credentials, err := m.iam.retrieve(ctx)
	if err != nil {
		return nil, nil, err
	}
	if m.iam.Region == "" {
		session, first, err := mskiam.Auth{
			AccessKey: credentials.AccessKeyID, SecretKey: credentials.SecretAccessKey, SessionToken: credentials.SessionToken,
			UserAgent: userAgent,
		}.AsManagedStreamingIAMMechanism().Authenticate(ctx, address)
		if err != nil { // it signs, and needs the region for that
			err = &iamError{err: err, noRegion: true}
		}
		return session, first, err
	}
	// franz-go takes the region from the host name alone. Where it is configured the SDK's signer signs for it.
	first, err := signedLogin(ctx, credentials, address, m.iam.Region, time.Now())
	return iamSession{}, first, err
}

// iamSession is a login that is over with the brokers' answer.
type iamSession struct{}

// Challenge takes the answer, which is not empty.
func (iamSession) Challenge(answer []byte) (done bool, reply []byte, err error) {
	if len(answer) == 0 {
		return false, nil, errors.New("the brokers gave no answer to the signed login")
	}
	return true, nil, nil
}

// retrieve returns credentials that are good now.
func (i *IAM) retrieve(ctx context.Context) (aws.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, credentialsTimeout)
	defer cancel()
	provider, err := i.provider(ctx)
	if err != nil {
		return aws.Credentials{}, &iamError{err: err}
	}
	credentials, err := provider.Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, &iamError{err: err}
	}
	return credentials, nil
}

// provider makes the SDK's chain once; it caches.
func (i *IAM) provider(ctx context.Context) (aws.CredentialsProvider, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.Credentials != nil {
		return i.Credentials, nil
	}
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	i.Credentials = c.Credentials
	return i.Credentials, nil
}

// signedLogin is the first message of AWS_MSK_IAM: a presigned request, Signature Version 4, as a JSON object with
// keys in small letters.
func signedLogin(ctx context.Context, credentials aws.Credentials, address, region string, now time.Time) ([]byte, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	query := url.Values{"Action": {"kafka-cluster:Connect"}, "X-Amz-Expires": {signatureLifetime}}
	u := url.URL{Scheme: "https", Host: host, Path: "/", RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	signed, _, err := v4.NewSigner().PresignHTTP(ctx, credentials, request, emptyHash, "kafka-cluster", region, now.UTC())
	if err != nil {
		return nil, err
	}
	presigned, err := url.Parse(signed)
	if err != nil {
		return nil, err
	}
	message := map[string]string{"version": "2020_10_22", "host": host, "user-agent": userAgent}
	for name, values := range presigned.Query() {
		message[strings.ToLower(name)] = values[0]
	}
	return json.Marshal(message)
}

// iamError says that a login could not be signed. It does not unwrap to its cause: who looks for the brokers' errors
// must not find the SDK's.
type iamError struct {
	err      error
	noRegion bool
}

// Error tells what the SDK said.
func (e *iamError) Error() string { return "AWS credentials: " + e.err.Error() }

func explainIAM(err error) (reason, hint string) {
	failed, ok := errors.AsType[*iamError](err)
	switch {
	case !ok:
		return "", ""
	case failed.noRegion:
		return "the cluster's AWS region is not known", "set sasl.region"
	}
	return "no AWS credentials were found", "give them by environment, shared file, web identity, container or instance role, as for every AWS SDK"
}
