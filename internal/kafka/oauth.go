package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/sluicehq/sluice/internal/tlsfile"
)

const (
	// tokenTimeout bounds a request for a token; connections wait for it.
	tokenTimeout = 10 * time.Second
	// tokenAhead is how long before its end a token is replaced, at most: a connection that begins now must still be
	// accepted, with clocks that differ. A short token is replaced after three quarters of its life.
	tokenAhead = time.Minute
	// tokenLifetime is how long a token is used whose endpoint does not say when it ends (RFC 6749, 5.1, asks for it).
	tokenLifetime = time.Minute
)

// OAuth gets bearer tokens by the client-credentials grant (RFC 6749, 4.4), for OAUTHBEARER. One token serves all
// connections until shortly before it ends. It is shared by pointer.
type OAuth struct {
	// TokenEndpointURL is https, or http on a loopback address.
	TokenEndpointURL string
	ClientID         string
	ClientSecret     Secret
	// Scope, of words between spaces, and Audience are sent where they are not empty.
	Scope, Audience string
	// Extensions are SASL extensions for the brokers (RFC 7628, KIP-342), such as logicalCluster; there may be none.
	Extensions map[string]string
	// CAFile is a PEM file of the authorities that may sign the token endpoint's certificate, instead of the system's.
	CAFile string

	mu    sync.Mutex
	grant *clientcredentials.Config // made with the first token; remembers how the endpoint wants the secret
	token string                    // "" for none
	renew time.Time                 // when another one is due
}

// Format writes the client's id, whatever the verb: it holds a secret and a token.
func (o *OAuth) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "token of %s", o.ClientID) }

// LogValue logs what Format writes.
func (o *OAuth) LogValue() slog.Value { return slog.StringValue("token of " + o.ClientID) }

func (o *OAuth) check() error {
	var errs []error
	u, err := url.Parse(o.TokenEndpointURL)
	switch {
	case err != nil || u.Hostname() == "":
		errs = append(errs, errors.New("sasl.tokenEndpointUrl: is not an https URL"))
	case u.Scheme == "http" && isLoopback(u.Hostname()):
	case u.Scheme != "https":
		errs = append(errs, errors.New("sasl.tokenEndpointUrl: is not https; http is for loopback addresses alone"))
	}
	if o.ClientID == "" {
		errs = append(errs, errors.New("sasl.clientId: is empty"))
	}
	if o.ClientSecret == nil {
		errs = append(errs, errors.New("sasl.clientSecret: is empty"))
	}
	return errors.Join(errs...)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (o *OAuth) mechanism(log *slog.Logger) (sasl.Mechanism, error) {
	var files *tlsfile.Source
	if o.CAFile != "" {
		var err error
		if files, err = tlsfile.Open("sasl.tokenEndpoint", tlsfile.Names{CAFile: o.CAFile}); err != nil {
			return nil, err
		}
	}
	return bearer{o, files, log}, nil
}

// bearer is the mechanism. A token that a broker refuses is not used again, though it has not ended.
type bearer struct {
	oauth *OAuth
	files *tlsfile.Source // nil for the system's authorities
	log   *slog.Logger
}

// Name is the mechanism's.
func (b bearer) Name() string { return OAuthBearer }

// Authenticate begins a login.
func (b bearer) Authenticate(ctx context.Context, host string) (sasl.Session, []byte, error) {
	var token string
	session, first, err := oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
		var err error
		token, err = b.oauth.current(ctx, b.files, b.log)
		return oauth.Auth{Token: token, Extensions: maps.Clone(b.oauth.Extensions)}, err
	}).Authenticate(ctx, host)
	if err != nil {
		return nil, nil, err
	}
	return refusal{session, func() { b.oauth.forget(token) }}, first, nil
}

// refusal is a session that learns of the brokers' refusal: their first challenge is what is wrong (RFC 7628, 3.2.2).
type refusal struct {
	sasl.Session
	refused func()
}

// Challenge answers the brokers.
func (r refusal) Challenge(b []byte) (bool, []byte, error) {
	if len(b) > 0 {
		r.refused()
	}
	return r.Session.Challenge(b)
}

// current returns the token, a new one where that is due. While it is fetched, others wait for it.
func (o *OAuth) current(ctx context.Context, files *tlsfile.Source, log *slog.Logger) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.token != "" && time.Now().Before(o.renew) {
		return o.token, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	began := time.Now()
	t, err := o.fetch(ctx, files, log)
	if err != nil {
		return "", &tokenError{o.TokenEndpointURL, err}
	}
	o.token, o.renew = t.AccessToken, began.Add(tokenLifetime)
	if !t.Expiry.IsZero() {
		life := t.Expiry.Sub(began)
		o.renew = t.Expiry.Add(-min(tokenAhead, life/4))
	}
	return o.token, nil
}

func (o *OAuth) forget(token string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.token == token {
		o.token = ""
	}
}

// fetch asks the endpoint. The caller holds mu.
func (o *OAuth) fetch(ctx context.Context, files *tlsfile.Source, log *slog.Logger) (*oauth2.Token, error) {
	if o.grant == nil {
		o.grant = &clientcredentials.Config{
			ClientID: o.ClientID, TokenURL: o.TokenEndpointURL, Scopes: strings.Fields(o.Scope), EndpointParams: url.Values{},
		}
		if o.Audience != "" {
			o.grant.EndpointParams.Set("audience", o.Audience)
		}
	}
	o.grant.ClientSecret = o.ClientSecret.reveal("sasl.clientSecret", log)
	return o.grant.Token(context.WithValue(ctx, oauth2.HTTPClient, httpClient(files, log)))
}

// httpClient returns a client that trusts what the file holds now. It follows no redirect: a secret goes where the
// configuration says, and nowhere else.
func httpClient(files *tlsfile.Source, log *slog.Logger) *http.Client {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	if files != nil {
		config, err := files.Config()
		if err != nil {
			log.Warn("the changed authorities of the token endpoint cannot be used; the ones before are", "error", err)
		}
		transport.TLSClientConfig = config.Clone()
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// tokenError says that the token endpoint gave none. It does not unwrap to its cause: who looks for the brokers'
// errors must not find the endpoint's.
type tokenError struct {
	url string
	err error
}

// Error tells the endpoint and what it answered; of a body only what RFC 6749 gives a meaning, for it may repeat what
// was sent.
func (e *tokenError) Error() string {
	text := e.err.Error()
	if answer, ok := errors.AsType[*oauth2.RetrieveError](e.err); ok {
		text = answer.Response.Status
		if answer.ErrorCode != "" {
			text = fmt.Sprintf("%s, %.100q %.300q", text, answer.ErrorCode, answer.ErrorDescription)
		}
	}
	return "token endpoint " + e.url + ": " + text
}

func explainToken(err error) (reason, hint string) {
	failed, ok := errors.AsType[*tokenError](err)
	if !ok {
		return "", ""
	}
	answer, answered := errors.AsType[*oauth2.RetrieveError](failed.err)
	switch {
	case answered && answer.Response.StatusCode >= 500:
		return "the token endpoint is out of order", "check the identity provider at sasl.tokenEndpointUrl"
	case answered && (answer.ErrorCode == "invalid_client" || answer.ErrorCode == "unauthorized_client" || answer.Response.StatusCode == http.StatusUnauthorized):
		return "the token endpoint refused the client", "check sasl.clientId and sasl.clientSecret, and that the client may use the client-credentials grant"
	case answered:
		return "the token endpoint refused the request", "check sasl.tokenEndpointUrl, sasl.scope and sasl.audience"
	}
	if reason, _ := explainTLS(failed.err); reason != "" {
		return "the token endpoint cannot be trusted", "check sasl.tokenEndpointUrl, and set sasl.tokenEndpointCaFile to the authority that signed its certificate"
	}
	return "the token endpoint cannot be reached", "check sasl.tokenEndpointUrl, the network and its firewalls"
}
