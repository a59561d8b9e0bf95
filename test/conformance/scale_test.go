//go:build real && !soak

package conformance

var scale = worstDay{records: 200_000, kills: 3, rebalances: 5}
