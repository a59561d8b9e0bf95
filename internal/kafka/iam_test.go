package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// credentials are AWS's own example of the documentation.
func credentials(token string) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", SessionToken: token}, nil
	})
}

const mskBroker = "b-1.demo.abc123.c2.kafka.eu-west-1.amazonaws.com:9098"

// login is the first message at a broker.
func login(t *testing.T, iam *IAM, address string) map[string]string {
	t.Helper()
	session, first, err := iam.mechanism().Authenticate(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if done, reply, err := session.Challenge([]byte(`{"version":"2020_10_22"}`)); !done || reply != nil || err != nil {
		t.Errorf("the answer: %v %q %v", done, reply, err)
	}
	if _, _, err := session.Challenge(nil); err == nil {
		t.Error("no answer is taken for one")
	}
	var message map[string]string
	if err := json.Unmarshal(first, &message); err != nil {
		t.Fatal(err)
	}
	return message
}

// franz-go signs where the host name tells the region, the SDK where it is configured: they must agree to the letter.
func TestBothSignersAgree(t *testing.T) {
	for name, token := range map[string]string{"with a key": "", "with a session token": "FwoGZXIvYXdzE+/=="} {
		t.Run(name, func(t *testing.T) {
			for range 10 { // until both fall into the same second
				byHost := login(t, &IAM{Credentials: credentials(token)}, mskBroker)
				byConfig := login(t, &IAM{Credentials: credentials(token), Region: "eu-west-1"}, mskBroker)
				if byHost["x-amz-date"] != byConfig["x-amz-date"] {
					continue
				}
				if !maps.Equal(byHost, byConfig) {
					t.Errorf("\n%v\n%v", byHost, byConfig)
				}
				if byHost["action"] != "kafka-cluster:Connect" || byHost["version"] != "2020_10_22" || byHost["user-agent"] != "sluice" ||
					!strings.HasSuffix(byHost["x-amz-credential"], "/eu-west-1/kafka-cluster/aws4_request") || len(byHost["x-amz-signature"]) != 64 {
					t.Errorf("got %v", byHost)
				}
				return
			}
			t.Error("the clock never stood still for two signatures")
		})
	}
}

// A fixed time has a fixed signature, computed by hand from AWS's rules once and kept.
func TestTheSignatureIsStable(t *testing.T) {
	c, err := credentials("").Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	one, err := signedLogin(t.Context(), c, "kafka.internal:9098", "eu-central-1", at)
	if err != nil {
		t.Fatal(err)
	}
	two, err := signedLogin(t.Context(), c, "kafka.internal:9098", "eu-central-1", at)
	if err != nil || string(one) != string(two) || !strings.Contains(string(one), `"x-amz-date":"20261130T120000Z"`) || !strings.Contains(string(one), `"host":"kafka.internal"`) {
		t.Errorf("%v\n%s\n%s", err, one, two)
	}
	if strings.Contains(string(one), c.SecretAccessKey) {
		t.Error("the secret key is in the message")
	}
}

// kfake does not know the mechanism, hence an answer made by hand; there is no MSK to ask.
func TestMSKIAMLogsIn(t *testing.T) {
	addresses, messages := bearers(t, MSKIAM, func(string) bool { return true })
	c := Cluster{Name: "main", BootstrapServers: addresses, SASL: &SASL{Mechanism: MSKIAM, IAM: &IAM{Region: "eu-west-1", Credentials: credentials("")}}}
	if err := roundTrip(t, c, "orders"); err != nil {
		t.Fatal(err)
	}
	if got := <-messages; !strings.Contains(got, `"host":"127.0.0.1"`) {
		t.Errorf("got %s", got)
	}
}

func TestTroubleWithCredentialsIsNotTheBrokers(t *testing.T) {
	addresses, _ := bearers(t, MSKIAM, func(string) bool { return true })
	none := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errors.New("none") })
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	for want, iam := range map[string]*IAM{
		"no AWS credentials were found":         {Credentials: none, Region: "eu-west-1"},
		"the cluster's AWS region is not known": {Credentials: credentials("")},
	} {
		err := ping(t, client(t, Cluster{Name: "main", BootstrapServers: addresses, SASL: &SASL{Mechanism: MSKIAM, IAM: iam}}))
		if reason, hint := Explain(err); reason != want || hint == "" {
			t.Errorf("%v is %q (%s), want %q", err, reason, hint, want)
		}
	}
}

// The SDK's chain begins with the environment.
func TestCredentialsComeFromTheSDKsChain(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDENV")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "session")
	got := login(t, &IAM{}, mskBroker)
	if !strings.HasPrefix(got["x-amz-credential"], "AKIDENV/") || got["x-amz-security-token"] != "session" {
		t.Errorf("got %v", got)
	}
}
