package report

import (
	"cmp"
	"slices"
)

// Change is a figure in two records.
type Change struct {
	Bench    string
	Old, New *Figure
	// Worse is by what share of the old figure the new one is worse; negative where it is better. 0 for differences and
	// where the old one is 0.
	Worse float64
	// Beyond says that the change is beyond the noise: every run of the one record lies beyond every run of the other.
	Beyond bool
}

// Compare holds a new record against an old one: ratios first, then differences, then what stands alone and depends on
// the machine; within these the order of the old record. Figures that only one of them has are left out.
func Compare(old, now *Record) []Change {
	var changes []Change
	for i := range old.Sections {
		s := &old.Sections[i]
		n := now.Find(s.Bench)
		if n == nil {
			continue
		}
		for j := range s.Figures {
			if f := n.find(s.Figures[j].key()); f != nil {
				changes = append(changes, change(s.Bench, &s.Figures[j], f))
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(rank(a.Old), rank(b.Old)) })
	return changes
}

func rank(f *Figure) int { return slices.Index([]By{Ratio, Difference, ""}, f.By) }

func change(bench string, old, now *Figure) Change {
	c := Change{Bench: bench, Old: old, New: now}
	oldLeast, oldMost := old.Range()
	least, most := now.Range()
	c.Beyond = least > oldMost || most < oldLeast
	if was := old.Counts(); was != 0 && old.By != Difference {
		c.Worse = now.Counts()/was - 1
		if old.Better == More {
			c.Worse = -c.Worse
		}
	}
	return c
}

// Slower says whether the figure became worse, and beyond the noise.
func (c *Change) Slower() bool { return c.Beyond && c.improvement() < 0 }

// Faster says whether the figure became better, and beyond the noise.
func (c *Change) Faster() bool { return c.Beyond && c.improvement() > 0 }

func (c *Change) improvement() float64 {
	d := c.New.Counts() - c.Old.Counts()
	if c.Old.Better == Less {
		return -d
	}
	return d
}

// Failed says whether a ratio is worse by more than the threshold, beyond the noise: what a comparison fails for.
// Figures that stand alone say as much about the machine as about the program, and differences have no share.
func (c *Change) Failed(threshold float64) bool {
	return c.Old.By == Ratio && c.Beyond && c.Worse > threshold
}
