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
}
