// Package timeline says how fast bodies reached the bench's function, from what the function counted over time. It is
// the one measure for everything that is compared: it is taken outside of it, and start-up and end stay out of it.
package timeline

import (
	"fmt"
	"sort"
	"time"
)

// Sample is what the function had counted at a moment. Bytes are those of request bodies that were read to their end.
type Sample struct {
	At       time.Duration `json:"at"` // since the function started
	Requests int64         `json:"requests"`
	Bytes    int64         `json:"bytes"`
}

// Timeline is what a function counted, oldest first, with a last sample when everything had come.
type Timeline []Sample

// The stretch that is measured, in shares of all bytes: the group's joining, the first connections and the last, maybe
// half-empty batches lie outside.
const (
	From = 0.05
	To   = 0.95
)

// Total is the last sample.
func (t Timeline) Total() Sample {
	if len(t) == 0 {
		return Sample{}
	}
	return t[len(t)-1]
}

// Span is the time between From and To of the bytes. The samples must be dense beside it: between two of them bytes are
// taken to come evenly.
func (t Timeline) Span() (time.Duration, error) {
	total := t.Total().Bytes
	if total <= 0 {
		return 0, fmt.Errorf("the function was sent nothing")
	}
	from, to := t.reached(From*float64(total)), t.reached(To*float64(total))
	if to <= from {
		return 0, fmt.Errorf("everything came between two samples; take more records")
	}
	return to - from, nil
}

// First is when the first body had been read, to the samples' grain; 0 if none was.
func (t Timeline) First() time.Duration {
	i := sort.Search(len(t), func(i int) bool { return t[i].Bytes > 0 })
	if i == len(t) {
		return 0
	}
	return t[i].At
}

// reached is when that many bytes had come.
func (t Timeline) reached(bytes float64) time.Duration {
	i := sort.Search(len(t), func(i int) bool { return float64(t[i].Bytes) >= bytes })
	if i == 0 {
		return t[0].At
	}
	before, after := t[i-1], t[i]
	share := (bytes - float64(before.Bytes)) / float64(after.Bytes-before.Bytes)
	return before.At + time.Duration(share*float64(after.At-before.At))
}
