package frame

import "math/bits"

// Codes stand for ranges of numbers, of which extra bits choose one.
const (
	literalCodes = 36
	matchCodes   = 53
	offsetCodes  = 21 // enough for the window
)

// rowTables fit rows of op logs. A frame has to say what they are, once.
func rowTables() *tables {
	return newTables(
		newTable(normalize(literalWeights(), 8), 8),
		newTable(normalize(offsetWeights(), 7), 7),
		newTable(normalize(matchWeights(), 8), 8),
	)
}

// defaultTables are those that every decoder knows (RFC 8878, 3.1.1.3.2.2).
func defaultTables() *tables {
	return newTables(
		newTable([]int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}, 6),
		newTable([]int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}, 5),
		newTable([]int16{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
			1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}, 6),
	)
}

type tables struct {
	literals, match rangeTable
	offset          table
}

func newTables(literals, offset, match table) *tables {
	return &tables{
		literals: newRangeTable(literals, []uint32{16: 1, 17: 1, 18: 1, 19: 1, 20: 2, 21: 2, 22: 3, 23: 3, 24: 4, 25: 6, 26: 7}, 19),
		match:    newRangeTable(match, []uint32{32: 1, 33: 1, 34: 1, 35: 1, 36: 2, 37: 2, 38: 3, 39: 3, 40: 4, 41: 4, 42: 5, 43: 7}, 36),
		offset:   offset,
	}
}

// A rangeTable encodes numbers by the range in which they are.
type rangeTable struct {
	table
	small  [128]rangeStep // of numbers that are mostly there
	powers uint32         // code of the range of 1 to 2, if all others began at powers of two as the last ones do
}

// A rangeStep is what there is to do about a number: the step of its code, how many extra bits it has, and the least number with that code.
type rangeStep struct {
	step
	extra, base uint32
}

func newRangeTable(t table, extra []uint32, powers uint32) rangeTable {
	r := rangeTable{table: t, powers: powers}
	for code, n := 0, 0; n < len(r.small); code++ {
		base, bits := uint32(n), uint32(0)
		if code < len(extra) {
			bits = extra[code]
		}
		for ; n < len(r.small) && n < int(base)+1<<bits; n++ {
			r.small[n] = rangeStep{t.steps[code], bits, base}
		}
	}
	return r
}

// of returns the step of a number, in room if there is none that is ready.
func (r *rangeTable) of(n uint32, room *rangeStep) *rangeStep {
	if n < uint32(len(r.small)) {
		return &r.small[n]
	}
	b := uint32(bits.Len32(n) - 1)
	*room = rangeStep{r.steps[(r.powers+b)%maxCodes], b, 1 << b}
	return room
}

// The weights are how often codes were there in a thousand sequences of logs of GET, PUT and mixed runs and of a merge of these. What
// depends on lengths of names has something added, since other runs have other names.

func literalWeights() []int {
	w := []int{147, 119, 31, 45, 36, 100, 180, 38, 12, 12, 53, 27, 51, 64, 80, 20, 6, 4, 4, 4, 4, 3, 3, 3}
	return append(w, make([]int, literalCodes-len(w))...)
}

func matchWeights() []int {
	w := make([]int, matchCodes)
	for c := 1; c < 44; c++ {
		w[c] = 6
	}
	for c, n := range map[int]int{2: 6, 6: 68, 12: 10, 13: 20, 14: 35, 15: 65, 16: 50, 17: 12, 21: 24, 22: 132, 23: 137, 24: 65, 25: 30, 26: 76, 27: 31, 39: 95, 40: 65} {
		w[c] += n
	}
	return w
}

func offsetWeights() []int {
	w := []int{720, 85, 4, 4, 4, 6, 12, 50, 20, 28, 27, 21, 12, 5, 4, 5, 8, 12, 13, 4}
	return append(w, make([]int, offsetCodes-len(w))...)
}
