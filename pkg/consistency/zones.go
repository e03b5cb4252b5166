package consistency

import (
	"cmp"
	"math"
	"slices"
)

// An access is one read or write of a register. It took effect between start and end. Value "" is what the register has
// before the first write.
type access struct {
	start, end int64
	write      bool
	value      string
	op         *Operation // nil = the register's first value
}

// A conflict is the reason why no order of the accesses explains what they saw.
type conflict struct {
	rule string
	ops  []*Operation
}

// Rules that registers break.
const (
	ruleNeverWritten = "a value was read that nobody wrote"
	ruleRefusedWrite = "a write took effect although the store had refused it"
	ruleReadTooEarly = "a value was read before its write started"
	ruleNoOrder      = "no order of the reads and writes explains what was read"
)

// A zone is the time in which a value must have been in the register: from the first end to the last start of its accesses
// if these do not all overlap, else the reverse.
type zone struct {
	firstEnd, lastStart     int64
	firstEndOp, lastStartOp *Operation
	write                   *access
	reads                   []*access
}

func (z *zone) forward() bool { return z.firstEnd < z.lastStart }

func (z *zone) add(a *access) {
	if a.end < z.firstEnd {
		z.firstEnd, z.firstEndOp = a.end, a.op
	}
	if a.start > z.lastStart {
		z.lastStart, z.lastStartOp = a.start, a.op
	}
}

// judgeRegister finds what contradicts that each access took effect at one instant of its interval. It is exact if each
// value is written once. Intervals are closed: accesses that touch overlap. A write with unknown outcome has no end; if
// nobody read its value it need not be among the accesses.
func judgeRegister(accesses []access) (conflicts []conflict) {
	byValue := make(map[string]*zone)
	zoneOf := func(a *access) *zone {
		z := byValue[a.value]
		if z == nil {
			z = &zone{firstEnd: math.MaxInt64, lastStart: math.MinInt64}
			byValue[a.value] = z
		}
		return z
	}
	first := access{start: math.MinInt64, end: math.MinInt64, write: true}
	initial := zoneOf(&first)
	initial.write = &first
	initial.add(&first)
	for i := range accesses {
		a := &accesses[i]
		z := zoneOf(a)
		if a.write {
			z.write = a
		} else {
			z.reads = append(z.reads, a)
		}
		z.add(a)
	}
	var forward, backward []*zone
	for _, z := range byValue {
		if c := z.ownConflict(); c != nil {
			conflicts = append(conflicts, *c)
		} else if z.forward() {
			forward = append(forward, z)
		} else {
			backward = append(backward, z)
		}
	}
	return append(conflicts, zoneConflicts(forward, backward)...)
}

// ownConflict returns what contradicts the accesses of a value by themselves; nil = nothing.
func (z *zone) ownConflict() *conflict {
	if z.write == nil {
		return &conflict{ruleNeverWritten, []*Operation{z.reads[0].op}}
	}
	for _, r := range z.reads {
		if r.end < z.write.start {
			return &conflict{ruleReadTooEarly, withoutNil(z.write.op, r.op)}
		}
	}
	return nil
}

// zoneConflicts finds forward zones that overlap, and backward zones inside of forward ones. One late read of an old value
// contradicts all values since, so each zone has at most one conflict with those that begin later: the latest.
func zoneConflicts(forward, backward []*zone) (conflicts []conflict) {
	slices.SortFunc(forward, func(a, b *zone) int { return cmp.Compare(a.firstEnd, b.firstEnd) })
	apart := forward[:0:0]          // that do not overlap those before
	latest := make(map[*zone]*zone) // by zone, the latest that contradicts it
	for _, z := range forward {
		if n := len(apart); n > 0 && z.firstEnd < apart[n-1].lastStart {
			latest[apart[n-1]] = z
			if z.lastStart <= apart[n-1].lastStart {
				continue
			}
		}
		apart = append(apart, z)
	}
	for _, b := range backward {
		i, _ := slices.BinarySearchFunc(apart, b.lastStart, func(z *zone, at int64) int { return cmp.Compare(z.firstEnd, at) })
		if i == 0 || b.firstEnd >= apart[i-1].lastStart {
			continue
		}
		if old := latest[apart[i-1]]; old == nil || old.firstEnd < b.firstEnd {
			latest[apart[i-1]] = b
		}
	}
	for _, z := range apart {
		if other := latest[z]; other != nil {
			conflicts = append(conflicts, between(z, other))
		}
	}
	return slices.CompactFunc(conflicts, func(a, b conflict) bool { return slices.Equal(a.ops, b.ops) })
}

// between is the conflict of two values, each of which must have been in the register before the other.
func between(a, b *zone) conflict {
	all := []*Operation{a.firstEndOp, a.lastStartOp, b.firstEndOp, b.lastStartOp}
	for _, z := range []*zone{a, b} {
		all = append(all, z.write.op)
	}
	return conflict{ruleNoOrder, withoutNil(all...)}
}

// withoutNil sorts operations by their start, each once.
func withoutNil(ops ...*Operation) []*Operation {
	ops = slices.DeleteFunc(ops, func(o *Operation) bool { return o == nil })
	slices.SortStableFunc(ops, func(a, b *Operation) int { return cmp.Compare(a.Start, b.Start) })
	kept := ops[:0]
	for _, o := range ops {
		if !slices.Contains(kept, o) {
			kept = append(kept, o)
		}
	}
	return kept
}
