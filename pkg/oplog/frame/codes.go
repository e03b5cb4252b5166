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
	return &tables{
		literals: newTable(normalize(literalWeights(), 8), 8),
		offset:   newTable(normalize(offsetWeights(), 7), 7),
		match:    newTable(normalize(matchWeights(), 8), 8),
	}
}

// defaultTables are those that every decoder knows (RFC 8878, 3.1.1.3.2.2).
func defaultTables() *tables {
	return &tables{
		literals: newTable([]int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}, 6),
		offset:   newTable([]int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}, 5),
		match: newTable([]int16{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
			1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}, 6),
	}
}

// A rangeCode is a code, how many extra bits it has and the least number that it stands for.
type rangeCode struct {
	code, bits uint8
	base       uint32
}

func literalCode(n uint32) rangeCode {
	if n < uint32(len(litCode)) {
		return litCode[n]
	}
	b := uint8(bits.Len32(n) - 1)
	return rangeCode{b + 19, b, 1 << b}
}

func matchCode(n uint32) rangeCode { // n is the length less 3
	if n < uint32(len(mlCode)) {
		return mlCode[n]
	}
	b := uint8(bits.Len32(n) - 1)
	return rangeCode{b + 36, b, 1 << b}
}

var litBits = [literalCodes]uint8{16: 1, 17: 1, 18: 1, 19: 1, 20: 2, 21: 2, 22: 3, 23: 3, 24: 4, 25: 6, 26: 7}
var mlBits = [matchCodes]uint8{32: 1, 33: 1, 34: 1, 35: 1, 36: 2, 37: 2, 38: 3, 39: 3, 40: 4, 41: 4, 42: 5, 43: 7}
var litCode = [64]rangeCode(spread(litBits[:], 64))
var mlCode = [128]rangeCode(spread(mlBits[:], 128))

func spread(extra []uint8, n int) []rangeCode {
	out := make([]rangeCode, 0, n)
	for c := 0; len(out) < n; c++ {
		base := uint32(len(out))
		for k := 0; k < 1<<extra[c] && len(out) < n; k++ {
			out = append(out, rangeCode{uint8(c), extra[c], base})
		}
	}
	return out
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
