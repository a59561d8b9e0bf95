//go:build real && !soak

package conformance

import "time"

// How much of docs/MEMORY.md is measured: the records of the lag, and how often the buffers are turned over.
const (
	memoryBacklog = 200_000
	memoryTurns   = 8
)

// How far the process may be from the formula, in percent. So few turns are over before the collector has let the heap
// grow as far as it does; that it may not take more is what is judged here.
const (
	memoryMore = 20.0
	memoryLess = 100.0
)

// memoryStuck is how long a function that takes nothing is watched, and the lag that it leaves.
const (
	memoryStuck        = 5 * time.Second
	memoryStuckBacklog = 30_000
)
