//go:build soak

package conformance

import "time"

var (
	scale = worstDay{records: 1_000_000, kills: 10, brokerKills: 3, rebalances: 20, progress: 20 * time.Second}
	// Versions of Kafka other than the newest.
	otherSuite = whole
	otherScale = worstDay{records: 100_000, kills: 3, rebalances: 5}

	badNetwork = networkScale{rounds: 1, short: 5 * time.Second, long: 30 * time.Second}
	hardship   = hardships{moves: 20, thorough: true}
)
