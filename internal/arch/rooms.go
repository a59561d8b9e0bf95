package arch

// A level is a step of the ladder «record ← deciding rooms ← seams ← poller ← controller ← cmd».
type level int

const (
	words    level = iota // shared nouns; imports nothing of ours
	deciding              // pure: no goroutine, clock, randomness, I/O
	seam                  // what the engine talks through: the function seam, schemas, metrics
	engine                // poller: owns goroutines, clocks and windows, knows the world through seams only
	control               // controller: desired mappings into running pollers
	leaf                  // adapters with I/O, built by cmd and handed inwards; they never import each other
	wiring                // cmd
	outside               // tests, benchmarks, examples: nothing of ours imports them
)

func (l level) String() string {
	return [...]string{"words", "deciding room", "seam", "engine", "control", "leaf", "wiring", "outside"}[l]
}

// A room is a folder with its place on the ladder. The folders below belong to it unless they are listed themselves;
// within one room imports are free.
type room struct {
	path  string
	level level
	// may lists the rooms that it may import. Each stands on a lower step, or is an exception with its reason.
	may []string
}

// rooms is the map of the tree. Rooms whose time has not come yet may be listed.
var rooms = []room{
	{path: "record", level: words},

	{path: "inflight", level: deciding, may: []string{"record"}},
	{path: "filter", level: deciding, may: []string{"record"}},
	{path: "failure", level: deciding, may: []string{"record", "invoke"}},
	{path: "scaling", level: deciding, may: []string{"record"}},
	{path: "mapping", level: deciding, may: []string{"record", "filter"}},

	{path: "invoke", level: seam, may: []string{"record"}},
	{path: "schema", level: seam, may: []string{"record"}},
	{path: "metric", level: seam, may: []string{"record"}},
	{path: "internal/lifecycle", level: seam},
	{path: "internal/tlsfile", level: seam},
	{path: "internal/http1", level: seam},

	{path: "poller", level: engine, may: []string{
		"record", "inflight", "filter", "failure", "scaling", "invoke", "schema", "metric", "internal/lifecycle",
	}},

	{path: "controller", level: control, may: []string{
		"record", "inflight", "filter", "failure", "scaling", "mapping", "invoke", "schema", "metric", "poller",
		"internal/lifecycle",
	}},

	{path: "config", level: leaf, may: []string{"record", "filter", "mapping"}},
	{path: "admin", level: leaf, may: []string{
		"record", "mapping", "scaling", "poller", "controller", "metric", "internal/lifecycle",
	}},
	{path: "internal/kafka", level: leaf, may: []string{"record", "metric", "internal/tlsfile"}},
	{path: "invoke/httpfn", level: leaf, may: []string{"record", "invoke", "metric", "internal/http1", "internal/tlsfile"}},
	{path: "poller/group", level: leaf, may: []string{
		"record", "inflight", "failure", "filter", "metric", "poller", "internal/lifecycle", "internal/kafka",
	}},
	{path: "scaling/lag", level: leaf, may: []string{"record", "scaling", "metric", "internal/kafka"}},
	{path: "failure/destination", level: leaf, may: []string{"record", "invoke", "failure"}},
	{path: "failure/destination/topic", level: leaf, may: []string{
		"record", "invoke", "failure", "metric", "failure/destination", "internal/kafka",
	}},

	{path: "cmd", level: wiring, may: []string{anything}},

	{path: "internal/arch", level: outside},
	{path: "internal/lifecycle/lifecycletest", level: outside, may: []string{"internal/lifecycle"}},
	{path: "test", level: outside, may: []string{anything}},
	{path: "examples", level: outside},
}

// anything of ours that is not outside; the rest is the compiler's matter.
const anything = "*"

// An exception allows an edge that goes against the ladder.
type exception struct{ from, to, why string }

var exceptions = []exception{
	{"failure", "invoke", "the closed error kinds live in the function seam, and the kind decides"},
	{"mapping", "filter", "a mapping refuses a pattern that does not compile"},
	{"poller/group", "internal/kafka", "the one place that makes Kafka clients; a feed owns its client"},
	{"scaling/lag", "internal/kafka", "the one place that makes Kafka clients; lag is read with its own client"},
	{"failure/destination/topic", "internal/kafka", "the one place that makes Kafka clients and producers"},
	{"failure/destination/topic", "failure/destination", "a destination implements the interface of its noun"},
}

func excepted(from, to string) bool {
	for _, e := range exceptions {
		if e.from == from && e.to == to {
			return true
		}
	}
	return false
}

// roomOf finds the room a package belongs to: the longest listed path that contains it.
func roomOf(p string) (room, bool) {
	var best room
	found := false
	for _, r := range rooms {
		if within(p, r.path) && (!found || len(r.path) > len(best.path)) {
			best, found = r, true
		}
	}
	return best, found
}
