package config

import (
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/mapping/field"
)

const (
	// DefaultListen is where the service listens.
	DefaultListen = "127.0.0.1:8440"
	// DefaultDrainTimeout bounds a drain.
	DefaultDrainTimeout = 25 * time.Second
	// MemoryLimitMin is the lowest memory limit: below it there is no room for buffers at all.
	MemoryLimitMin = 48 << 20
)

var serverType = scope([]field.Field{
	{
		Name: "listen", Default: DefaultListen,
		Type: field.Type{
			Kind: field.KindString, Min: 1, Max: 300,
			Pattern: regexp.MustCompile(`^(localhost|127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}|\[::1\]):[0-9]{1,5}$`),
			Looks: "a loopback address and port, such as 127.0.0.1:8440 " +
				"(any other needs server.accessKeys, which are not yet supported)",
			Check: wrongListen, Beyond: "the range of the port and of the address's numbers",
		},
		Doc: "Where the API, the admin API, `/metrics`, `/healthz` and `/readyz` are served. Port 0 takes a free one. Anything " +
			"but loopback needs `accessKeys`, which are not yet supported.",
	},
	{
		Name: "drainTimeout", Default: DefaultDrainTimeout,
		Type: field.Type{Kind: field.KindDuration, Min: 0, Max: int64(time.Hour)},
		Doc:  "How long records in flight may take to settle at SIGTERM, when a partition is revoked, and on scale-down.",
	},
	{
		Name: "tls", NotYet: notYet("TLS on the listener"), Type: field.Object(
			field.Field{Name: "certFile", Type: fileType(), Required: true, Doc: "The certificate chain, PEM."},
			field.Field{Name: "keyFile", Type: fileType(), Required: true, Doc: "Its key, PEM."},
		),
		Doc: "Serves HTTPS.",
	},
	{
		Name: "accessKeys", NotYet: &field.NotYet{What: "authentication by access keys", EmptyIsFine: true},
		Type: field.List(field.Object(
			field.Field{Name: "id", Type: field.String(1, 128, "", ""), Required: true, Doc: "The key's id."},
			field.Field{Name: "secret", Type: secretType(), Required: true, Doc: "The key."},
			field.Field{Name: "role", Type: field.Enum("admin", "viewer"), Required: true, Doc: "What its holder may do."},
		), 0, 1000),
		Doc: "Who may use the APIs and the console.",
	},
	{
		Name: "metrics", NotYet: notYet("a separate way to the metrics"), Type: field.Object(
			field.Field{Name: "listen", Type: hostPortType("an address and port", 0), Doc: "A listener of its own for `/metrics`."},
			field.Field{Name: "bearerToken", Type: secretType(), Doc: "The token that scrapers send."},
		),
		Doc: "How scrapers reach `/metrics`, since they cannot sign. Without it, by `listen`.",
	},
	{
		Name: "memoryLimit", DefaultNote: "half of the cgroup's limit or of the machine's memory",
		Type: field.Type{Kind: field.KindSize, Min: MemoryLimitMin, Max: 1 << 44},
		Doc: "The memory of the process: it sets Go's limit, and the buffers of all enabled mappings are shares of it, worked out " +
			"at start. Where the environment has a `GOMEMLIMIT` as well, the lower of the two counts. What is needed: " +
			"[MEMORY.md](MEMORY.md).",
	},
	{
		Name: "account", NotYet: notYet("the AWS API"),
		Type: field.String(12, 12, `^[0-9]{12}$`, "12 digits in quotes"), Doc: "The account of ARNs.",
	},
	{
		Name: "region", NotYet: notYet("the AWS API"),
		Type: field.String(1, 64, `^[a-z0-9-]+$`, "a region such as eu-west-1"), Doc: "The region of ARNs.",
	},
	{
		Name: "adHocClusters", NotYet: notYet("the AWS API"), Type: field.Bool(),
		Doc: "Whether API requests may name clusters that are not declared.",
	},
	{
		Name: "compatibility",
		Type: field.Object(field.Field{
			Name: "strictFilters", Type: field.Bool(), Default: false,
			Doc: "Refuses filter patterns with operators that the table in Lambda's guide leaves out, or with fields other than `value`: " +
				"[FILTERS.md](FILTERS.md).",
		}),
		Doc: "Switches for where AWS's own texts contradict each other.",
	},
})

var stateType = scope([]field.Field{
	{Name: "dir", Type: fileType(), Doc: "A folder."},
	{
		Name: "kafka",
		Type: field.Object(field.Field{Name: "cluster", Required: true, Type: field.String(1, 128, "", ""), Doc: "The cluster."}),
		Doc:  "A compacted topic.",
	},
	{Name: "prefix", Type: field.String(1, 64, `^[a-zA-Z0-9._-]+$`, "letters, digits, '.', '_' and '-'"), Doc: "Before the names of topics."},
})

// scope returns an object type whose conditions and rules refer to itself.
func scope(fields []field.Field, rules ...field.Rule) field.Type {
	return field.Type{Kind: field.KindObject, Scope: true, Fields: fields, Rules: rules}
}

func notYet(what string) *field.NotYet { return &field.NotYet{What: what} }

// secretType is the type of a secret's text.
func secretType() field.Type {
	return field.Type{Kind: field.KindString, Min: 1, Max: secretMax, Secret: true}
}

// fileType is the type of a file's name.
func fileType() field.Type {
	return field.Type{Kind: field.KindString, Min: 1, Max: 4096, Path: true, Looks: "the name of a file, relative to this one"}
}

// hostPortType is the type of addresses; ports begin with lowest.
func hostPortType(looks string, lowest int) field.Type {
	return field.Type{
		Kind: field.KindString, Min: 1, Max: 300, Pattern: regexp.MustCompile(`^([^\s:/,@\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}$`), Looks: looks,
		Check:  func(text string) string { return wrongPort(text, lowest) },
		Beyond: "the range of the port",
	}
}

// wrongPort says why text, which has a host and a port of digits, has a wrong port, or "".
func wrongPort(text string, lowest int) string {
	_, port, err := net.SplitHostPort(text)
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < lowest || n > 65535 {
		return "has no port from " + strconv.Itoa(lowest) + " to 65535"
	}
	return ""
}

// wrongListen says why text, which looks like a loopback address, is none, or "".
func wrongListen(text string) string {
	host, _, _ := net.SplitHostPort(text)
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return "is not a loopback address"
	}
	return wrongPort(text, 0)
}
