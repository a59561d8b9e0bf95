package main

import (
	"slices"
	"time"
)

// result is one run of one subject.
type result struct {
	Records          int64
	Payload          int64 // bytes of keys and values
	Span             time.Duration
	Start            time.Duration // from the process's start to the first body
	CPU              time.Duration
	PeakRSS          int64 // bytes
	Requests         int64
	RecordsPerSecond float64
}

// withSpeed adds the speed of a run whose Span saw that share of its records.
func (r result) withSpeed(share float64) result {
	r.RecordsPerSecond = share * float64(r.Records) / r.Span.Seconds()
	return r
}

func (r result) recordsPerSecond() float64 { return r.RecordsPerSecond }

// megabytesPerSecond counts keys and values; MB is 10⁶ bytes.
func (r result) megabytesPerSecond() float64 {
	return r.RecordsPerSecond * float64(r.Payload) / float64(r.Records) / 1e6
}

// cpuPerMillion is in seconds for a million records.
func (r result) cpuPerMillion() float64 { return r.CPU.Seconds() / float64(r.Records) * 1e6 }

// peakMegabytes is the peak of the resident memory; MB is 10⁶ bytes.
func (r result) peakMegabytes() float64 { return float64(r.PeakRSS) / 1e6 }

func (r result) meanBatch() float64 { return float64(r.Records) / float64(max(r.Requests, 1)) }

// pair is the loop's run and Sluice's right after it.
type pair struct{ Loop, Sluice result }

// row is what was measured of a case.
type row struct {
	Case  benchCase
	Batch int // as it fits into an event
	Pairs []pair
}

// medians of a figure over the pairs: the loop's, Sluice's, and that of the pairs' own ratios, Sluice ÷ loop.
func (r row) medians(figure func(result) float64) (loop, sluice, ratio float64) {
	var loops, sluices, ratios []float64
	for _, p := range r.Pairs {
		l, s := figure(p.Loop), figure(p.Sluice)
		loops, sluices, ratios = append(loops, l), append(sluices, s), append(ratios, s/l)
	}
	return median(loops), median(sluices), median(ratios)
}

// median of an even number of values is the mean of the two in the middle; 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}
