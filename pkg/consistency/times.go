package consistency

import (
	"cmp"
	"slices"
	"sort"
)

// times are operations in the order of a time of each.
type times struct {
	ops []*Operation
	at  func(*Operation) int64
}

// newTimes takes the operations that count.
func newTimes(ops []*Operation, counts func(*Operation) bool, at func(*Operation) int64) times {
	t := times{at: at}
	for _, o := range ops {
		if counts(o) {
			t.ops = append(t.ops, o)
		}
	}
	slices.SortStableFunc(t.ops, func(a, b *Operation) int { return cmp.Compare(at(a), at(b)) })
	return t
}

// before returns how many there are before a time.
func (t *times) before(at int64) int {
	return sort.Search(len(t.ops), func(i int) bool { return t.at(t.ops[i]) >= at })
}

// last returns the last n before a time.
func (t *times) last(at int64, n int) []*Operation {
	to := t.before(at)
	return slices.Clone(t.ops[max(0, to-n):to])
}
