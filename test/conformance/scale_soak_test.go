//go:build soak

package conformance

var (
	scale = worstDay{records: 1_000_000, kills: 10, rebalances: 20}
	// Versions of Kafka other than the newest.
	otherSuite = whole
	otherScale = worstDay{records: 200_000, kills: 3, rebalances: 5}
)
