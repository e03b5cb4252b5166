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

func literalCode(n uint32) (code uint8, extra uint8) {
	if n < 64 {
		c := litCode[n]
		return c.code, c.bits
	}
	b := uint8(bits.Len32(n) - 1)
	return b + 19, b
}

func matchCode(n uint32) (code uint8, extra uint8) { // n is the length less 3
	if n < 128 {
		c := mlCode[n]
		return c.code, c.bits
	}
	b := uint8(bits.Len32(n) - 1)
	return b + 36, b
}

// A rangeCode is a code and how many extra bits it has.
type rangeCode struct{ code, bits uint8 }

var litBits = [literalCodes]uint8{16: 1, 17: 1, 18: 1, 19: 1, 20: 2, 21: 2, 22: 3, 23: 3, 24: 4, 25: 6, 26: 7}
var mlBits = [matchCodes]uint8{32: 1, 33: 1, 34: 1, 35: 1, 36: 2, 37: 2, 38: 3, 39: 3, 40: 4, 41: 4, 42: 5, 43: 7}
var litCode = [64]rangeCode(spread(litBits[:], 64))
var mlCode = [128]rangeCode(spread(mlBits[:], 128))

func spread(extra []uint8, n int) []rangeCode {
	out := make([]rangeCode, 0, n)
	for c := 0; len(out) < n; c++ {
		for k := 0; k < 1<<extra[c] && len(out) < n; k++ {
			out = append(out, rangeCode{uint8(c), extra[c]})
		}
	}
	return out
}

// The weights are how often codes were there in a thousand sequences of logs of GET, PUT and mixed runs and of a merge of these. What
// depends on lengths of names has something added, since other runs have other names.

func literalWeights() []int {
	w := []int{168, 113, 32, 36, 68, 79, 144, 28, 15, 31, 70, 52, 67, 38, 48, 12, 6, 4, 4, 4, 4, 3, 3, 3}
	return append(w, make([]int, literalCodes-len(w))...)
}

func matchWeights() []int {
	w := make([]int, matchCodes)
	for c := 1; c < 44; c++ {
		w[c] = 6
	}
	for c, n := range map[int]int{6: 50, 12: 20, 13: 65, 14: 45, 21: 28, 22: 120, 23: 120, 24: 50, 25: 30, 26: 60, 27: 20, 39: 85, 40: 50} {
		w[c] += n
	}
	return w
}

func offsetWeights() []int {
	w := []int{628, 112, 5, 5, 5, 33, 70, 60, 30, 25, 22, 20, 13, 6, 5, 6, 10, 17, 16, 4}
	return append(w, make([]int, offsetCodes-len(w))...)
}
