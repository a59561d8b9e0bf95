//go:build soak

package conformance

var scale = worstDay{records: 1_000_000, kills: 10, rebalances: 20}
