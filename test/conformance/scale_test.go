//go:build real && !soak

package conformance

import "time"

var (
	scale = worstDay{records: 50_000, kills: 2, brokerKills: 1, rebalances: 2}
	// Versions of Kafka other than the newest.
	otherSuite = core
	otherScale = worstDay{records: 20_000, kills: 1, rebalances: 2}

	badNetwork = networkScale{rounds: 1, short: 500 * time.Millisecond, long: 3 * time.Second}
	hardship   = hardships{moves: 3}
)
