package memory

import (
	"testing"
	"testing/quick"

	"github.com/sluicehq/sluice/poller/group"
)

// typical is a mapping with AWS's defaults.
var typical = Load{Slots: 25, EventBytes: 6 << 20}

func repeat(l Load, n int) []Load {
	loads := make([]Load, n)
	for i := range loads {
		loads[i] = l
	}
	return loads
}

func TestDivide(t *testing.T) {
	const mib = 1 << 20
	cases := []struct {
		name  string
		limit int64
		loads []Load
		fits  bool
		low   int64 // the first one's buffer lies between
		high  int64
	}{
		{"a gigabyte leaves one mapping the default", 1 << 30, repeat(typical, 1), true, group.BufferBytesDefault, group.BufferBytesDefault},
		{"little memory makes a small buffer", 64 * mib, repeat(typical, 1), true, 3 * mib, 6 * mib},
		{"eight share a quarter of a gigabyte", 256 * mib, repeat(typical, 8), true, 2 * mib, 5 * mib},
		{"small events leave more to the buffer", 64 * mib, repeat(Load{Slots: 5, EventBytes: 128 << 10}, 1), true, 4 * mib, 12 * mib},
		{"200 do not fit into 64 MiB", 64 * mib, repeat(typical, 200), false, group.BufferBytesMin, group.BufferBytesMin},
		{"nor does one into 33", 33 * mib, repeat(typical, 1), false, group.BufferBytesMin, group.BufferBytesMin},
		{"nothing to divide", 64 * mib, nil, true, 0, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			p := Divide(tc.limit, tc.loads)
			if p.Fits() != tc.fits {
				t.Errorf("fits: %v; at the least %d", p.Fits(), p.Least)
			}
			if len(tc.loads) > 0 && (p.Buffers[0] < tc.low || p.Buffers[0] > tc.high) {
				t.Errorf("buffer %d KiB, want %d to %d", p.Buffers[0]>>10, tc.low>>10, tc.high>>10)
			}
		})
	}
}

func TestWhatOneCannotUseGoesToTheOthers(t *testing.T) {
	small := Load{Slots: 1, EventBytes: 4 << 10}
	alone := Divide(240<<20, []Load{typical, typical})
	mixed := Divide(240<<20, []Load{typical, small})
	if mixed.Buffers[0] <= alone.Buffers[0] {
		t.Errorf("beside a small one it gets %d, beside its like %d", mixed.Buffers[0], alone.Buffers[0])
	}
	if mixed.Buffers[1] != group.BufferBytesDefault {
		t.Errorf("the small one gets %d", mixed.Buffers[1])
	}
}

// What is divided is never more than there is, buffers keep within their bounds, and more memory makes none smaller.
func TestSharesStayWithinTheLimit(t *testing.T) {
	err := quick.Check(func(limitMiB uint16, slots []uint16, event uint32) bool {
		limit := int64(limitMiB)<<20 + 33<<20
		loads := make([]Load, len(slots))
		for i, n := range slots {
			loads[i] = Load{Slots: 1 + int(n), EventBytes: 1024 + int64(event)>>4, ResponseBytes: int64(n), DeadLetters: n%2 == 0}
		}
		p, more := Divide(limit, loads), Divide(2*limit, loads)
		for i, b := range p.Buffers {
			if b < group.BufferBytesMin || b > group.BufferBytesDefault || more.Buffers[i] < b {
				return false
			}
		}
		return p.Needs <= p.Most && (!p.Fits() || p.Most <= limit) && Divide(p.Least, loads).Fits()
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

func TestFind(t *testing.T) {
	const gib = 1 << 30
	cases := []struct {
		name    string
		sources Sources
		bytes   int64
		origin  string
		chosen  bool
	}{
		{"the configuration", Sources{Configured: gib, Cgroup: 4 * gib}, gib, "server.memoryLimit", true},
		{"the environment", Sources{Environment: gib, Cgroup: 4 * gib}, gib, "GOMEMLIMIT", true},
		{"the environment is lower", Sources{Configured: 2 * gib, Environment: gib}, gib, "GOMEMLIMIT", true},
		{"the configuration is lower", Sources{Configured: gib, Environment: 2 * gib}, gib, "server.memoryLimit", true},
		{"a cgroup", Sources{Cgroup: 4 * gib, Machine: 8 * gib}, 2 * gib, "half of the cgroup's 4.0 GiB", false},
		{"a cgroup that allows more than there is", Sources{Cgroup: 16 * gib, Machine: 8 * gib}, 4 * gib, "half of the machine's 8.0 GiB", false},
		{"a machine", Sources{Machine: 8 * gib}, 4 * gib, "half of the machine's 8.0 GiB", false},
		{"nobody knows", Sources{}, gib, "the machine does not tell its memory", false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got, want := Find(tc.sources), (Limit{tc.bytes, tc.origin, tc.chosen}); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}
