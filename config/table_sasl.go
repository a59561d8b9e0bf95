package config

import (
	"net/netip"
	"net/url"
	"regexp"

	"github.com/sluicehq/sluice/mapping/field"
)

// The mechanisms by what they log in with.
var (
	withPassword = []string{string(Plain), string(ScramSHA256), string(ScramSHA512)}
	withToken    = []string{string(OAuthBearer)}
	withAWS      = []string{string(MSKIAM)}
)

// only refuses a field with the mechanisms that have no use for it.
func only(why string, others ...[]string) []field.Refusal {
	var names []string
	for _, o := range others {
		names = append(names, o...)
	}
	return []field.Refusal{{When: field.Is("sasl.mechanism", names...), Why: why}}
}

func needed(why string, mechanisms []string) []field.Requirement {
	return []field.Requirement{{When: field.Is("sasl.mechanism", mechanisms...), Why: why}}
}

const (
	forPassword = "is for PLAIN and SCRAM"
	forToken    = "is for OAUTHBEARER"
	forAWS      = "is for AWS_MSK_IAM"
)

var saslField = field.Field{
	Name: "sasl",
	AWS:  "SourceAccessConfigurations (BASIC_AUTH, SASL_SCRAM_256_AUTH, SASL_SCRAM_512_AUTH, OAUTHBEARER_AUTH, IAM_AUTH)",
	Type: field.Object(
		field.Field{
			Name: "mechanism", Type: field.Enum(mechanisms...), Required: true,
			Doc: "How to authenticate.",
		},
		field.Field{
			Name: "username", Type: field.String(1, 1024, "", ""),
			RequiredWhen: needed("with PLAIN and SCRAM", withPassword), Refused: only(forPassword, withToken, withAWS),
			Doc: "The user.",
		},
		field.Field{
			Name: "password", Type: secretType(),
			RequiredWhen: needed("with PLAIN and SCRAM", withPassword), Refused: only(forPassword, withToken, withAWS),
			Doc: "The password; best `${file:PATH}`, which is read again for each connection, or `${NAME}`.",
		},
		field.Field{
			Name: "tokenEndpointUrl", Type: field.Type{
				Kind: field.KindString, Min: 1, Max: 4096, Pattern: regexp.MustCompile(`^https?://[^\s]+$`),
				Looks: "an https URL, or http on a loopback address", Secret: true, // tokens stand in queries
				Check: wrongTokenURL, Beyond: "what is no URL behind https://, user names in it, and http elsewhere than on loopback",
			},
			RequiredWhen: needed("with OAUTHBEARER", withToken), Refused: only(forToken, withPassword, withAWS),
			Doc: "Where the identity provider gives tokens, by the client-credentials grant. One token serves all connections to " +
				"the cluster, and is renewed before it ends.",
			Source: "RFC 6749, 4.4",
		},
		field.Field{
			Name: "tokenEndpointCaFile", Type: fileType(), DefaultNote: "the system's", Refused: only(forToken, withPassword, withAWS),
			Doc: "The certificates (PEM) of the authorities by which the token endpoint is trusted.",
		},
		field.Field{
			Name: "clientId", Type: field.String(1, 1024, "", ""),
			RequiredWhen: needed("with OAUTHBEARER", withToken), Refused: only(forToken, withPassword, withAWS),
			Doc: "The client at the identity provider.",
		},
		field.Field{
			Name: "clientSecret", Type: secretType(),
			RequiredWhen: needed("with OAUTHBEARER", withToken), Refused: only(forToken, withPassword, withAWS),
			Doc: "Its secret; `${file:PATH}` is read again for each token.",
		},
		field.Field{
			Name: "scope", Type: field.String(1, 4096, `^[!#-\[\]-~]+( [!#-\[\]-~]+)*$`, "words with a space between them"),
			Refused: only(forToken, withPassword, withAWS), DefaultNote: "the identity provider's",
			Doc: "What the token is asked for; several words with a space between them.", Source: "RFC 6749, 3.3",
		},
		field.Field{
			Name: "audience", Type: field.String(1, 4096, "", ""), Refused: only(forToken, withPassword, withAWS),
			Doc: "Whom the token is for, where the identity provider asks for it.",
		},
		field.Field{
			Name: "extensions", Refused: only(forToken, withPassword, withAWS),
			Type: field.Map(field.String(1, 1024, `^[ -~]+$`, "printable ASCII"), 20, `^[A-Za-z]{1,64}$`, "letters"),
			Doc:  "SASL extensions that the brokers read beside the token, such as `logicalCluster` and `identityPoolId`.", Source: "KIP-342",
		},
		field.Field{
			Name: "region", Type: field.String(1, 64, `^[a-z0-9-]+$`, "a region such as eu-west-1"),
			Refused: only(forAWS, withPassword, withToken), DefaultNote: "that of the broker's host name, or else of the environment",
			Doc: "The cluster's AWS region. The credentials are found as by every AWS SDK: environment, shared files, web " +
				"identity, container or instance role.",
		},
	),
	DefaultNote: "no authentication", Doc: "Authenticates with SASL.", Source: "AWS, SourceAccessConfiguration",
}

// noAuthExtension is the rule that the one name that the token itself has is not another's.
var noAuthExtension = field.Rule{
	Doc:   "`sasl.extensions` has no `auth`: the token is sent under that name (KIP-342).",
	Paths: []string{"sasl.extensions"},
	Check: func(c *field.Node, _ field.Context) []field.Violation {
		if c.At("sasl.extensions.auth") == nil {
			return nil
		}
		return []field.Violation{{Path: "sasl.extensions.auth", Message: "is the token's own name; allowed: any other"}}
	},
	Schema: map[string]any{"properties": map[string]any{"sasl": map[string]any{"properties": map[string]any{
		"extensions": map[string]any{"properties": map[string]any{"auth": false}},
	}}}},
}

// wrongTokenURL says why text cannot be a token endpoint's URL, or "".
func wrongTokenURL(text string) string {
	if why := wrongURL(text); why != "" {
		return why
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "https" || u.Hostname() == "localhost" {
		return ""
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsLoopback() {
		return "sends a secret in the clear; allowed: https, and http on a loopback address"
	}
	return ""
}
