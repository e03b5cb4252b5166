package oplog

import "slices"

// A numberCheck finds rows that are missing or doubled by their numbers, which
// the column idx counts from 0. Rows may come in any order.
type numberCheck struct {
	next     uint64 // one more than the highest number so far
	gaps     []gap  // missing numbers below next, in order
	repeated uint64 // rows with the number of an earlier one
	rows     uint64
	tooMany  bool // gaps: they are no longer kept
	off      bool // the column is not a number
}

// A gap is the numbers from first to before end.
type gap struct{ first, end uint64 }

// maxGaps bounds what a log in no order can cost. If there are more, only the
// number of rows is compared with the highest number.
const maxGaps = 1 << 12

// add counts the number of the next row.
func (c *numberCheck) add(n uint64) {
	c.rows++
	if n == c.next {
		c.next++
		return
	}
	c.addOther(n)
}

// addOther counts a number that is not the next one.
func (c *numberCheck) addOther(n uint64) {
	if len(c.gaps) == maxGaps {
		c.gaps, c.tooMany = nil, true
	}
	switch {
	case n > c.next && !c.tooMany:
		c.gaps = append(c.gaps, gap{c.next, n})
		c.next = n + 1
	case n >= c.next:
		c.next = n + 1
	case !c.tooMany:
		c.addEarlier(n)
	}
}

// addEarlier counts a number below the highest one.
func (c *numberCheck) addEarlier(n uint64) {
	i, found := slices.BinarySearchFunc(c.gaps, n, func(g gap, n uint64) int {
		switch {
		case g.end <= n:
			return -1
		case g.first > n:
			return 1
		}
		return 0
	})
	if !found {
		c.repeated++
		return
	}
	switch g := &c.gaps[i]; {
	case g.end-g.first == 1:
		c.gaps = slices.Delete(c.gaps, i, i+1)
	case n == g.first:
		g.first++
	case n == g.end-1:
		g.end--
	default:
		rest := gap{n + 1, g.end}
		g.end = n
		c.gaps = slices.Insert(c.gaps, i+1, rest)
	}
}

// result returns how many rows are missing and how many have the number of an
// earlier one, in a log that had want rows; 0 if that is not known.
func (c *numberCheck) result(want uint64) (missing, repeated uint64) {
	if c.off {
		return 0, 0
	}
	if c.tooMany {
		all := max(c.next, want)
		if c.rows >= all {
			return 0, c.rows - all
		}
		return all - c.rows, 0
	}
	for _, g := range c.gaps {
		missing += g.end - g.first
	}
	if want > c.next {
		missing += want - c.next
	}
	return missing, c.repeated
}
