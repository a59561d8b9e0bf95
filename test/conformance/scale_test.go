//go:build real && !soak

package conformance

import "time"

var (
	scale = worstDay{records: 200_000, kills: 3, rebalances: 5}
	// Versions of Kafka other than the newest.
	otherSuite = core
	otherScale = worstDay{records: 120_000, kills: 1, rebalances: 2}

	badNetwork = networkScale{rounds: 1, short: 500 * time.Millisecond, long: 3 * time.Second}
	hardship   = hardships{moves: 3, allDown: 15 * time.Second}
)
