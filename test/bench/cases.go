package main

import (
	"fmt"
	"strconv"
	"strings"
)

// partitions of a topic; a multiple of every batch in each, so that no batch of the backlog is less than full.
const partitions = 8

// benchCase is one row of the table of throughput.
type benchCase struct {
	batch int // records of a batch
	value int // bytes of a value
}

// String is the form of -cases.
func (c benchCase) String() string { return fmt.Sprintf("%dx%s", c.batch, sizeName(c.value)) }

// title is the form of the table.
func (c benchCase) title() string {
	return thousands(int64(c.batch)) + " × " + spaced(sizeName(c.value))
}

// sizes are the sizes of values that have names, and batches the batch sizes.
var (
	sizes = []struct {
		name  string
		bytes int
	}{{"100B", 100}, {"1KiB", 1 << 10}, {"10KiB", 10 << 10}}
	batches = []int{1, 100, 1000}
)

// usual says whether a case is among those that run unless others are asked for: batches of a thousand are much like those of a
// hundred.
func (c benchCase) usual() bool { return c.batch < 1000 || c.value == 1<<10 }

func sizeName(bytes int) string {
	for _, s := range sizes {
		if s.bytes == bytes {
			return s.name
		}
	}
	return strconv.Itoa(bytes) + "B"
}

// spaced parts the number of a size from its unit.
func spaced(size string) string {
	i := strings.IndexFunc(size, func(r rune) bool { return r < '0' || r > '9' })
	return size[:i] + " " + size[i:]
}

// thousands groups the digits.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// records is how many make a run last about five seconds on two cores.
func (c benchCase) records() int64 {
	switch {
	case c.batch < 10:
		return map[bool]int64{true: 160_000, false: 80_000}[c.value <= 1<<10]
	case c.value <= 100:
		return 4_000_000
	case c.value <= 1<<10:
		return 1_600_000
	default:
		return 240_000
	}
}

// scaled is records × scale, in whole batches of 1000 for each partition.
func (c benchCase) scaled(scale float64) int64 {
	const step = partitions * 1000
	return max(int64(float64(c.records())*scale)/step, 1) * step
}

// parseCases reads a list of cases; the usual ones where it is empty. Cases come out by size, so that they can share
// topics.
func parseCases(list string) ([]benchCase, error) {
	wanted := map[benchCase]bool{}
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		c, err := parseCase(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		wanted[c] = true
	}
	var cases []benchCase
	for _, s := range sizes {
		for _, batch := range batches {
			if c := (benchCase{batch, s.bytes}); wanted[c] || len(wanted) == 0 && c.usual() {
				cases = append(cases, c)
			}
		}
	}
	return cases, nil
}

func parseCase(word string) (benchCase, error) {
	for _, s := range sizes {
		for _, batch := range batches {
			if c := (benchCase{batch, s.bytes}); strings.EqualFold(c.String(), word) {
				return c, nil
			}
		}
	}
	return benchCase{}, fmt.Errorf("-cases: %q; a case is a batch of 1, 100 or 1000, an x, and 100B, 1KiB or 10KiB", word)
}
