//go:build real && !soak

package conformance

var (
	scale = worstDay{records: 200_000, kills: 3, rebalances: 5}
	// Versions of Kafka other than the newest.
	otherSuite = core
	otherScale = worstDay{records: 120_000, kills: 1, rebalances: 2}
)
