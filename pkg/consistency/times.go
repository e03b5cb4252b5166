package consistency

import (
	"cmp"
	"slices"
	"sort"
)

// times are operations in the order of a time of each.
type times struct {
	at  []int64
	ops []*Operation
}

// newTimes takes the operations for which time returns true.
func newTimes(ops []*Operation, time func(*Operation) (int64, bool)) *times {
	type entry struct {
		at int64
		op *Operation
	}
	var all []entry
	for _, o := range ops {
		if at, ok := time(o); ok {
			all = append(all, entry{at, o})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	t := &times{}
	for _, e := range all {
		t.at, t.ops = append(t.at, e.at), append(t.ops, e.op)
	}
	return t
}

// before returns how many there are before a time.
func (t *times) before(at int64) int {
	return sort.Search(len(t.at), func(i int) bool { return t.at[i] >= at })
}

// last returns the last n before a time.
func (t *times) last(at int64, n int) []*Operation {
	to := t.before(at)
	return slices.Clone(t.ops[max(0, to-n):to])
}
