package main

import (
	"fmt"
	"strconv"
	"strings"
)

// partitions of each topic; a multiple of every batch in each, so that no batch of the backlog is less than full.
const partitions = 8

// keyBytes is the length of a record's key.
const keyBytes = 8

// benchCase is one row of the table.
type benchCase struct {
	batch int // records of a batch
	value int // bytes of a value
}

// String is the form of -cases.
func (c benchCase) String() string { return fmt.Sprintf("%dx%s", c.batch, sizeName(c.value)) }

// sizes are the sizes of values that have names, and batches the batch sizes.
var (
	sizes = []struct {
		name  string
		bytes int
	}{{"100B", 100}, {"1KiB", 1 << 10}, {"10KiB", 10 << 10}}
	batches = []int{1, 100, 1000}
)

func sizeName(bytes int) string {
	for _, s := range sizes {
		if s.bytes == bytes {
			return s.name
		}
	}
	return strconv.Itoa(bytes) + "B"
}

// records is how many make a run last a few seconds on two cores, where a batch costs 15 µs and a record about 0.5 µs and
// 1 ns a byte.
func (c benchCase) records() int64 {
	switch {
	case c.batch < 10:
		return map[bool]int64{true: 320_000, false: 160_000}[c.value <= 1<<10]
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

// parseCases reads a list of cases; all of them where it is empty. Cases come out by size, so that they can share topics.
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
			if c := (benchCase{batch, s.bytes}); len(wanted) == 0 || wanted[c] {
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
