package report

// Targets are what Sluice is held to.
var Targets = []Target{
	{"throughput", "100 × 1 KiB", "records/s", 0.90},
	{"throughput", "100 × 1 KiB", "CPU-s per million", 1.20},
	{"throughput", "1 × 1 KiB", "records/s", 0.85},
	{"throughput", "1 × 100 B", "records/s", 0.85},
	{"throughput", "1 × 10 KiB", "records/s", 0.85},
	{"throughput", "100 × 10 KiB", "records/s", 0.90},

	{"latency", "10 records/s", "p50", 0.3},
	{"latency", "10 records/s", "p99", 1.5},
	{"latency", "100 records/s", "p50", 0.3},
	{"latency", "100 records/s", "p99", 1.5},
	{"latency", "1 000 records/s", "p50", 0.3},
	{"latency", "1 000 records/s", "p99", 1.5},
	{"latency", "2 000 records/s", "p50", 0.3},
	{"latency", "2 000 records/s", "p99", 1.5},

	{"idle", "an idle mapping", "goroutines", 20},
	{"idle", "an idle mapping", "heap", 350},
	{"idle", "an idle mapping", "connections", 4},
	{"idle", "a disabled mapping", "goroutines", 0},
	{"idle", "a disabled mapping", "connections", 0},
	{"idle", "start of 200 mappings", "all ready after", 10},
	{"idle", "1 000 idle mappings", "use of a core", 15},

	{"state", "a record in flight", "heap", 96},

	{"failing", "5 % of the calls fail", "share of what is possible", 0.90},
	{"failing", "a poison record elsewhere", "p99 of healthy partitions", 1},

	{"caps", "50 pollers of 5 MB/s", "furthest from the cap", 5},
	{"caps", "50 pollers of 2 MB/s", "furthest from the cap", 5},

	{"backlog", "1 000 000 × 1 KiB behind", "most of RSS, share of the limit", 1},
	{"backlog", "1 000 000 × 1 KiB behind", "RSS, last quarter ÷ second", 1.05},

	{"filter", "exact", "a match", 1400},
	{"filter", "prefix-numeric", "a match", 1400},
	{"filter", "wildcard-but", "a match", 1400},
	{"filter", "exact", "allocations", 0},
	{"filter", "prefix-numeric", "allocations", 0},
	{"filter", "wildcard-but", "allocations", 0},
	{"filter", "1 % of the records match", "records/s", 0.5},

	{"encoding", "1 KiB, no headers", "ns per record", 1.5},
	{"encoding", "1 KiB, a traceparent header", "ns per record", 2.2},
	{"encoding", "1 KiB, no headers", "allocations per event", 0},
	{"encoding", "1 KiB, a traceparent header", "allocations per event", 0},
}
