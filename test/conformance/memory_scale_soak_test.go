//go:build soak

package conformance

import "time"

// How much of docs/MEMORY.md is measured: the records of the lag, and how often the buffers are turned over.
const (
	memoryBacklog = 1_000_000
	memoryTurns   = 30
)

// memoryStuck is how long a function that takes nothing is watched, and the lag that it leaves.
const (
	memoryStuck        = 10 * time.Minute
	memoryStuckBacklog = 1_000_000
)

// How far the process may be from the formula, in percent.
const (
	memoryMore = 20.0
	memoryLess = 20.0
)
