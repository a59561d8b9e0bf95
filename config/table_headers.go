package config

import (
	"fmt"
	"net/textproto"
	"regexp"
	"strings"

	"github.com/sluicehq/sluice/mapping/field"
)

// HeaderBytesMax is the most bytes that the configured headers of a function may have, names and values.
const HeaderBytesMax = 8 << 10

// headerValueType is the type of a header's value.
func headerValueType() field.Type {
	return field.Type{
		Kind: field.KindString, Min: 1, Max: secretMax, Secret: true,
		Pattern: regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`), Looks: "text without control characters",
	}
}

// takenHeaders are the headers that a request has of its own, and those that belong to the connection.
var takenHeaders = []string{
	"Content-Type", "Traceparent", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Trailer", "Upgrade",
}

// ownPrefix begins the headers that say what a request carries.
const ownPrefix = "Sluice-"

// headersOfOthers is the rule that what the request has of its own stays.
var headersOfOthers = field.Rule{
	Doc: "`headers` has none that a request has of its own: `Sluice-…`, `" + strings.Join(takenHeaders, "`, `") + "`; and none twice, " +
		"letter case aside.",
	Paths:  []string{"headers"},
	Check:  wrongHeaders,
	Beyond: "names that differ by letter case alone",
	Schema: map[string]any{"properties": map[string]any{"headers": map[string]any{
		"propertyNames": map[string]any{"not": map[string]any{"pattern": takenPattern()}},
	}}},
}

func wrongHeaders(f *field.Node, _ field.Context) []field.Violation {
	n := f.At("headers")
	if n == nil {
		return nil
	}
	var wrong []field.Violation
	first := map[string]string{}
	for _, m := range n.Members {
		name := textproto.CanonicalMIMEHeaderKey(m.Key)
		switch before, twice := first[name]; {
		case taken(name):
			wrong = append(wrong, field.Violation{Path: "headers." + m.Key, Message: "is a header that the request has of its own"})
		case twice:
			wrong = append(wrong, field.Violation{Path: "headers." + m.Key, Message: fmt.Sprintf("is the same header as %q", before)})
		}
		first[name] = m.Key
	}
	return wrong
}

func taken(canonical string) bool {
	for _, t := range takenHeaders {
		if canonical == t {
			return true
		}
	}
	return strings.HasPrefix(canonical, ownPrefix)
}

// takenPattern matches the taken names in any letter case, in what RE2 and ECMA-262 share.
func takenPattern() string {
	alternatives := []string{anyCase(ownPrefix) + ".*"}
	for _, t := range takenHeaders {
		alternatives = append(alternatives, anyCase(t))
	}
	return "^(" + strings.Join(alternatives, "|") + ")$"
}

func anyCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if lower, upper := strings.ToLower(string(r)), strings.ToUpper(string(r)); lower != upper {
			b.WriteString("[" + upper + lower + "]")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// headersFit is the rule that the headers stay within what is sent with the first bytes of an event.
var headersFit = field.Rule{
	Doc:    fmt.Sprintf("`headers` have at most %d bytes, names and values.", HeaderBytesMax),
	Paths:  []string{"headers"},
	Beyond: "the sum of lengths",
	Check: func(f *field.Node, _ field.Context) []field.Violation {
		n := f.At("headers")
		if n == nil {
			return nil
		}
		size := 0
		for _, m := range n.Members {
			size += len(m.Key) + len(m.Value.Text) + len(": \r\n")
		}
		if size <= HeaderBytesMax {
			return nil
		}
		return []field.Violation{{Path: "headers", Message: fmt.Sprintf("have %d bytes; allowed: %d in all", size, HeaderBytesMax)}}
	},
}

// tlsWithHTTPS is the rule that nobody takes a connection in the clear for an encrypted one.
var tlsWithHTTPS = field.Rule{
	Doc:   "`tls` is for an https `url`.",
	Paths: []string{"url", "tls"},
	Check: func(f *field.Node, _ field.Context) []field.Violation {
		u := f.At("url")
		if f.At("tls") == nil || u == nil || !strings.HasPrefix(u.Text, "http://") {
			return nil
		}
		return []field.Violation{{Path: "tls", Message: "is for https, and the url is http", Hint: "write https:// in url, or remove tls"}}
	},
	Schema: map[string]any{
		"if":   map[string]any{"required": []any{"url"}, "properties": map[string]any{"url": map[string]any{"pattern": "^http://"}}},
		"then": map[string]any{"properties": map[string]any{"tls": false}},
	},
}
