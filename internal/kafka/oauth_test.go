package kafka

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// idp is a token endpoint.
type idp struct {
	mu     sync.Mutex
	secret string // that it wants
	life   int    // of its tokens, in seconds; 0 tells none
	status int    // that it answers with, 0 for what is right
	token  func(n int) string
	forms  []map[string][]string
	issued int
}

// ServeHTTP issues tokens.
func (p *idp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = r.ParseForm()
	id, secret, _ := r.BasicAuth()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case p.status != 0:
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(p.status)
		fmt.Fprintf(w, `<html>%s</html>`, secret)
	case id != "svc" || secret != p.secret:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"invalid_client","error_description":"who are you"}`)
	default:
		p.issued++
		p.forms = append(p.forms, r.PostForm)
		token := fmt.Sprintf("token-%d", p.issued)
		if p.token != nil {
			token = p.token(p.issued)
		}
		answer := map[string]any{"access_token": token, "token_type": "bearer"}
		if p.life > 0 {
			answer["expires_in"] = p.life
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func (p *idp) set(f func(*idp)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p)
}

// bearers is kfake taught OAUTHBEARER, which it does not know: accept says whether a first message is let in. The
// messages come out of the channel.
func bearers(t *testing.T, mechanism string, accept func(message string) bool) (addresses []string, messages chan string) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	messages = make(chan string, 100)
	c.ControlKey(int16(kmsg.SASLHandshake), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
		if req.(*kmsg.SASLHandshakeRequest).Mechanism != mechanism {
			resp.ErrorCode = kerr.UnsupportedSaslMechanism.Code
		}
		return resp, nil, true
	})
	c.ControlKey(int16(kmsg.SASLAuthenticate), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		message := string(req.(*kmsg.SASLAuthenticateRequest).SASLAuthBytes)
		switch {
		case message == "\x01": // the client's answer to a refusal
			resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
			return resp, nil, true
		case !accept(message):
			resp.SASLAuthBytes = []byte(`{"status":"invalid_token"}`)
		case mechanism == MSKIAM:
			resp.SASLAuthBytes = []byte(`{"version":"2020_10_22","request-id":"1"}`)
		}
		messages <- message
		return resp, nil, true
	})
	return c.ListenAddrs(), messages
}

func endpoint(t *testing.T, p *idp) string {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return server.URL + "/token"
}

func TestABearerTokenIsFetchedAndShown(t *testing.T) {
	p := &idp{secret: "s3cret", life: 3600}
	addresses, messages := bearers(t, OAuthBearer, func(string) bool { return true })
	c := Cluster{Name: "main", BootstrapServers: addresses, SASL: &SASL{Mechanism: OAuthBearer, OAuth: &OAuth{
		TokenEndpointURL: endpoint(t, p), ClientID: "svc", ClientSecret: Text("s3cret"), Scope: "kafka read", Audience: "brokers",
		Extensions: map[string]string{"logicalCluster": "lkc-1", "identityPoolId": "pool-2"},
	}}}
	for range 3 { // the clients of a cluster share the token
		if err := roundTrip(t, c, "orders"); err != nil {
			t.Fatal(err)
		}
	}
	want := "n,,\x01auth=Bearer token-1\x01identityPoolId=pool-2\x01logicalCluster=lkc-1\x01\x01"
	for len(messages) > 0 {
		if got := <-messages; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if len(p.forms) != 1 {
		t.Fatalf("%d tokens were fetched, want 1", len(p.forms))
	}
	form := p.forms[0]
	for key, want := range map[string]string{"grant_type": "client_credentials", "scope": "kafka read", "audience": "brokers"} {
		if got := form[key]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestATokenIsRenewedBeforeItEnds(t *testing.T) {
	for name, c := range map[string]struct {
		life int
		want time.Duration // after which another is due, about
	}{
		"a long one a minute before":                {3600, 3600*time.Second - tokenAhead},
		"a short one after three quarters":          {40, 30 * time.Second},
		"one whose end is not told, after a minute": {0, tokenLifetime},
	} {
		t.Run(name, func(t *testing.T) {
			p := &idp{secret: "one", life: c.life}
			secret := "one"
			o := &OAuth{TokenEndpointURL: endpoint(t, p), ClientID: "svc", ClientSecret: func() (string, error) { return secret, nil }}
			current := func() string {
				t.Helper()
				token, err := o.current(t.Context(), nil, quiet)
				if err != nil {
					t.Fatal(err)
				}
				return token
			}
			if first := current(); first != "token-1" || current() != first {
				t.Error("a token is not kept")
			}
			if left := time.Until(o.renew); left > c.want+time.Second || left < c.want-10*time.Second {
				t.Errorf("another is due in %s, want about %s", left, c.want)
			}
			o.renew = time.Now()
			secret = "two" // its file has changed
			p.set(func(p *idp) { p.secret = "two" })
			if current() != "token-2" {
				t.Error("a token is kept for too long")
			}
		})
	}
}

// A broker may refuse a token before its end, because the signing key was changed.
func TestARefusedTokenIsNotUsedAgain(t *testing.T) {
	p := &idp{secret: "s", life: 3600}
	addresses, _ := bearers(t, OAuthBearer, func(message string) bool { return !strings.Contains(message, "token-1\x01") })
	cl := client(t, Cluster{Name: "main", BootstrapServers: addresses, SASL: &SASL{Mechanism: OAuthBearer, OAuth: &OAuth{
		TokenEndpointURL: endpoint(t, p), ClientID: "svc", ClientSecret: Text("s"),
	}}})
	if reason, _ := Explain(ping(t, cl)); reason != wrongPassword {
		t.Errorf("a refused token is %q", reason)
	}
	if err := ping(t, cl); err != nil {
		t.Errorf("with the next token: %v", err)
	}
}

func TestTroubleWithTheTokenEndpointIsNotTheBrokers(t *testing.T) {
	ca, other := newAuthority(t, "ca"), newAuthority(t, "other")
	secure := httptest.NewUnstartedServer(&idp{secret: "s", life: 3600})
	secure.TLS = ca.server(time.Now().Add(time.Hour))
	secure.StartTLS()
	t.Cleanup(secure.Close)
	addresses, _ := bearers(t, OAuthBearer, func(string) bool { return true })
	for _, c := range []struct {
		name  string
		oauth *OAuth
		want  string
	}{
		{"a wrong secret", &OAuth{TokenEndpointURL: endpoint(t, &idp{secret: "other"})}, "the token endpoint refused the client"},
		{"a wrong address", &OAuth{TokenEndpointURL: "http://" + closedPort(t) + "/"}, "the token endpoint cannot be reached"},
		{"an outage", &OAuth{TokenEndpointURL: endpoint(t, &idp{status: 503})}, "the token endpoint is out of order"},
		{"a redirect, which is not followed", &OAuth{TokenEndpointURL: endpoint(t, &idp{status: 307})}, "the token endpoint refused the request"},
		{"an authority that is not known", &OAuth{TokenEndpointURL: secure.URL, CAFile: other.file}, "the token endpoint cannot be trusted"},
		{"an authority of its own", &OAuth{TokenEndpointURL: secure.URL, CAFile: ca.file}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.oauth.ClientID, c.oauth.ClientSecret = "svc", Text("s")
			err := ping(t, client(t, Cluster{Name: "main", BootstrapServers: addresses, SASL: &SASL{Mechanism: OAuthBearer, OAuth: c.oauth}}))
			reason, hint := Explain(err)
			if reason != c.want || c.want != "" && hint == "" {
				t.Errorf("%v is %q (%s), want %q", err, reason, hint, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "html") || strings.Contains(err.Error(), "\n")) {
				t.Errorf("the answer is repeated: %v", err)
			}
		})
	}
}

func TestATokenIsNeverShown(t *testing.T) {
	o := &OAuth{TokenEndpointURL: endpoint(t, &idp{secret: "s3cret"}), ClientID: "svc", ClientSecret: Text("s3cret")}
	if _, err := o.current(context.Background(), nil, quiet); err != nil {
		t.Fatal(err)
	}
	s := SASL{Mechanism: OAuthBearer, OAuth: o}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "oauth", o, "sasl", s)
	marshalled, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%v %+v %#v %s %v %+v %#v", o, o, o, o, s, &s, []any{o, s}) + log.String() + string(marshalled)
	if strings.Contains(shown, "token-1") || strings.Contains(shown, "s3cret") {
		t.Error(shown)
	}
	if s.String() != "OAUTHBEARER as svc" {
		t.Errorf("got %s", s)
	}
}

func TestBadLoginsNameEveryField(t *testing.T) {
	for name, c := range map[string]struct {
		sasl SASL
		want []string
	}{
		"no endpoint":            {SASL{Mechanism: OAuthBearer}, []string{"sasl.tokenEndpointUrl"}},
		"everything is missing":  {SASL{Mechanism: OAuthBearer, OAuth: &OAuth{}}, []string{"sasl.tokenEndpointUrl", "sasl.clientId", "sasl.clientSecret"}},
		"http to elsewhere":      {SASL{Mechanism: OAuthBearer, OAuth: &OAuth{TokenEndpointURL: "http://idp.test/"}}, []string{"is not https"}},
		"authorities not there":  {SASL{Mechanism: OAuthBearer, OAuth: &OAuth{TokenEndpointURL: "https://h/", ClientID: "c", ClientSecret: Text("s"), CAFile: "none.pem"}}, []string{"none.pem"}},
		"no way to credentials":  {SASL{Mechanism: MSKIAM}, []string{"no credentials"}},
		"a password with a name": {SASL{Mechanism: Plain, OAuth: &OAuth{}}, []string{"sasl.username", "sasl.password"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewClient(Cluster{Name: "main", BootstrapServers: []string{"h:1"}, TLS: &TLS{}, SASL: &c.sasl}, quiet)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want «%s»", err, want)
				}
			}
		})
	}
}
