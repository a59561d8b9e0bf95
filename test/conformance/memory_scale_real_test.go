//go:build real && !soak

package conformance

import "time"

// How much of docs/MEMORY.md is measured: the records of the lag, and how often the buffers are turned over.
const (
	memoryBacklog = 200_000
	memoryTurns   = 8
)

// memoryStuck is how long a function that takes nothing is watched, and the lag that it leaves.
const (
	memoryStuck        = 5 * time.Second
	memoryStuckBacklog = 30_000
)
