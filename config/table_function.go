package config

import (
	"net/url"
	"regexp"
	"time"

	"github.com/sluicehq/sluice/mapping/field"
)

// ErrorDetection says by what a function's answer counts as an error although its status is 2xx.
type ErrorDetection string

// The ways of error detection.
const (
	// DetectAuto looks at the body where the URL's path is that of Lambda's Invoke API, else at the header.
	DetectAuto ErrorDetection = "auto"
	// DetectHeader looks at the header X-Amz-Function-Error.
	DetectHeader ErrorDetection = "header"
	// DetectBody looks for an object with errorType and errorMessage too.
	DetectBody ErrorDetection = "body"
)

// DefaultTimeout bounds one invocation.
const DefaultTimeout = 30 * time.Second

var functionType = scope([]field.Field{
	{
		Name: "url",
		Type: field.Type{
			Kind: field.KindString, Min: 1, Max: 4096, Pattern: regexp.MustCompile(`^https?://[^\s]+$`), Looks: "an http or https URL",
			Secret: true, // tokens stand in queries
			Check:  wrongURL, Beyond: "what is no URL behind http://, and user names in it",
		},
		Doc: "The function is an HTTP endpoint: each batch is a POST of the Kafka event as JSON.",
	},
	{
		Name: "lambda", NotYet: notYet("calling AWS Lambda"),
		Type: field.String(1, 256, `^[a-zA-Z0-9:._$-]+$`, "the name or ARN of a Lambda function"),
		Doc:  "The function is one of AWS Lambda.",
	},
	{
		Name: "command", NotYet: notYet("running a function as processes"), Type: field.List(field.String(1, 4096, "", ""), 1, 1000),
		Doc: "The function is a program that speaks the Lambda Runtime API.",
	},
	{
		Name: "processes", NotYet: notYet("running a function as processes"), Type: field.Int(1, 1000),
		Refused: []field.Refusal{{When: field.HasNot("command"), Why: "is for a command"}},
		Doc:     "How many of them run.",
	},
	{
		Name: "timeout", Type: field.Type{Kind: field.KindDuration, Min: int64(time.Millisecond), Max: int64(15 * time.Minute)},
		Default: DefaultTimeout, Doc: "The longest one invocation may take (AWS: 14 minutes).",
	},
	{
		Name: "errorDetection", Type: field.Enum(string(DetectAuto), string(DetectHeader), string(DetectBody)), Default: string(DetectAuto),
		Doc: "By what an answer with a 2xx status is an error: `header` is X-Amz-Function-Error, `body` also an object with " +
			"`errorType` and `errorMessage`, `auto` is `body` where the path is `/2015-03-31/functions/…/invocations`, else `header`.",
	},
	{
		Name: "headers", Refused: forURL,
		Type: field.Map(headerValueType(), 100, `^[!#$%&'*+.^_|~0-9A-Za-z-]+$`, "an HTTP header's name"),
		Doc: "Headers of each request, for authorisation; what the request has of its own cannot be replaced. Values are never " +
			"shown; `${file:PATH}` is read again when the file changes.",
	},
	{
		Name: "tls", Refused: forURL, Type: tlsType("the function's servers", "the URL's host"), DefaultNote: "the system's authorities",
		Doc: "Trust and client certificate of https connections. The files are read again when they change.",
	},
	{
		Name: "maxConcurrency", Type: field.Int(1, 100000), DefaultNote: "what the pollers' slots allow",
		Doc: "The most invocations at once over all mappings that call it; they are served by turn.",
	},
	{
		Name: "outageProtection", Type: field.Switch(), Default: true,
		Doc: "Tells an outage of the function from a poisonous record: while three or more different batches fail alike with no " +
			"success between them, no attempt is spent and nothing is given up. `off` takes such failures for the records' fault; a " +
			"function that cannot be reached costs no attempt either way.",
	},
}, exactlyOneTarget, headersOfOthers, headersFit, tlsWithHTTPS)

// forURL refuses what is for HTTP.
var forURL = []field.Refusal{{When: field.HasNot("url"), Why: "is for a url"}}

// exactlyOneTarget is the rule that a function is one thing.
var exactlyOneTarget = field.Rule{
	Doc:   "A function has exactly one of `url`, `lambda` and `command`.",
	Paths: []string{"url", "lambda", "command"},
	Check: func(f *field.Node, _ field.Context) []field.Violation {
		var has []string
		for _, name := range []string{"url", "lambda", "command"} {
			if f.At(name) != nil {
				has = append(has, name)
			}
		}
		switch len(has) {
		case 0:
			return []field.Violation{{Message: "has no target; allowed: exactly one of url, lambda and command"}}
		case 1:
			return nil
		}
		return []field.Violation{{Path: has[1], Message: "is a second target beside " + has[0] + "; allowed: exactly one of url, lambda and command"}}
	},
	Schema: map[string]any{"oneOf": []any{
		map[string]any{"required": []any{"url"}}, map[string]any{"required": []any{"lambda"}}, map[string]any{"required": []any{"command"}},
	}},
}

// wrongURL says why text cannot be a function's URL, or "".
func wrongURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return "is not an http or https URL"
	case u.User != nil:
		return "holds a user name, which would show in logs"
	case u.Fragment != "":
		return "holds a fragment, which is never sent"
	}
	return ""
}
