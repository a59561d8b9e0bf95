package memory

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"

	"github.com/sluicehq/sluice/config"
)

// Limit is the memory of the process and where the number comes from.
type Limit struct {
	Bytes int64
	// Origin is for people: «server.memoryLimit», «GOMEMLIMIT», «half of the machine's 8.0 GiB».
	Origin string
	// Chosen says that somebody wrote the limit down; else it follows from where the process runs.
	Chosen bool
}

// Sources are where a limit may come from. Zero fields say nothing.
type Sources struct {
	// Configured is server.memoryLimit, and Environment is GOMEMLIMIT.
	Configured, Environment int64
	// Cgroup is the limit of the control group, and Machine the memory of the machine.
	Cgroup, Machine int64
}

// environment is the variable of Go's own limit.
const environment = "GOMEMLIMIT"

// unknownMachine stands for a machine that does not tell its memory.
const unknownMachine = 1 << 30

// Find chooses the limit. What was written down counts, and of two the lower: each is a promise to somebody. Otherwise it
// is half of the control group's limit or of the machine's memory, whichever is less: the other half is for the page
// cache, and for those who are not told of Sluice.
func Find(s Sources) Limit {
	switch {
	case s.Configured > 0 && (s.Environment == 0 || s.Configured <= s.Environment):
		return Limit{s.Configured, "server.memoryLimit", true}
	case s.Environment > 0:
		return Limit{s.Environment, environment, true}
	case s.Cgroup > 0 && (s.Machine == 0 || s.Cgroup < s.Machine):
		return Limit{s.Cgroup / 2, "half of the cgroup's " + text(s.Cgroup), false}
	case s.Machine > 0:
		return Limit{s.Machine / 2, "half of the machine's " + text(s.Machine), false}
	}
	return Limit{unknownMachine, "the machine does not tell its memory", false}
}

// atStart is what Go's runtime has read of GOMEMLIMIT, before anybody set another limit.
var atStart = debug.SetMemoryLimit(-1)

// Look asks the process and the machine.
func Look(c *config.Config) Sources {
	s := Sources{Configured: c.Server.MemoryLimit}
	if atStart != math.MaxInt64 {
		s.Environment = atStart
	}
	if n, err := memlimit.FromCgroup(); err == nil && n < 1<<62 {
		s.Cgroup = int64(n)
	}
	if n, err := memlimit.FromSystem(); err == nil && n < 1<<62 {
		s.Machine = int64(n)
	}
	return s
}

// text writes bytes for people.
func text(n int64) string { return humanize.IBytes(uint64(max(0, n))) }

// String is «1.0 GiB (server.memoryLimit)».
func (l Limit) String() string { return fmt.Sprintf("%s (%s)", text(l.Bytes), l.Origin) }
