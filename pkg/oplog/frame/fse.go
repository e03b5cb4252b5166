package frame

import "math/bits"

// Room in a table for whatever a byte, or a state without its size, may say, so that nothing has to be checked.
const (
	maxTable = 1 << 9
	maxCodes = 1 << 6
)

// A table encodes one kind of code of sequences as finite state entropy.
type table struct {
	log    uint32
	next   [maxTable]uint16
	steps  [maxCodes]step
	header []byte // the table as a block describes it
}

type step struct {
	bits uint32 // in the upper half; a state is added before the shift
	find int32
}

// normalize scales weights to a sum of 1<<log. What has none gets the least share there is.
func normalize(weights []int, log uint32) []int16 {
	size, sum := 1<<log, 0
	for _, w := range weights {
		sum += w
	}
	norm := make([]int16, len(weights))
	left, largest := size, 0
	for i, w := range weights {
		n := w * (size - len(weights)) / sum
		if n < 1 {
			norm[i] = -1
			left--
			continue
		}
		norm[i] = int16(n)
		left -= n
		if norm[i] > norm[largest] {
			largest = i
		}
	}
	norm[largest] += int16(left)
	return norm
}

// newTable makes the table of these shares of 1<<log; -1 stands for less than one share.
func newTable(norm []int16, log uint32) table {
	size := 1 << log
	t := table{log: log, header: describe(norm, log)}
	symbols := make([]uint8, size)
	first := make([]int, len(norm)+1)
	high := size - 1
	for s, n := range norm {
		if n == -1 {
			symbols[high] = uint8(s)
			high--
			n = 1
		}
		first[s+1] = first[s] + int(n)
	}
	at := 0
	for s, n := range norm {
		for range n { // not for those of -1
			symbols[at] = uint8(s)
			at = (at + size>>1 + size>>3 + 3) & (size - 1)
			for at > high {
				at = (at + size>>1 + size>>3 + 3) & (size - 1)
			}
		}
	}
	fill := append([]int(nil), first...)
	for u, s := range symbols {
		t.next[fill[s]] = uint16(size + u)
		fill[s]++
	}
	for s, n := range norm {
		n = max(n, -n)
		most := log
		if n > 1 {
			most = log - uint32(bits.Len16(uint16(n-1))-1)
		}
		t.steps[s] = step{uint32(most)<<16 - uint32(n)<<most, int32(first[s]) - int32(n)}
	}
	return t
}

// describe writes shares as the format does: the fewer are left, the fewer bits each takes.
func describe(norm []int16, log uint32) []byte {
	var out []byte
	acc, n := uint64(log-5), uint(4)
	left := 1 << log
	for _, p := range norm {
		v, highest := int(p)+1, left+1
		width := uint(bits.Len(uint(highest)))
		short := 1<<width - 1 - highest
		switch {
		case v < short:
			width--
		case v >= 1<<(width-1):
			v += short
		}
		acc |= uint64(v) << n
		for n += width; n >= 8; n -= 8 {
			out = append(out, byte(acc))
			acc >>= 8
		}
		left -= int(max(p, -p))
	}
	if n > 0 {
		out = append(out, byte(acc))
	}
	return out
}

// start returns the state before which a code is the last one.
func (t *table) start(x *step) uint32 {
	n := (x.bits + 1<<15) >> 16
	return uint32(t.next[int32((n<<16-x.bits)>>n)+x.find])
}

// step goes from a state to the one for the code before it, and returns the n bits to write.
// The masks change nothing; they spare the checks.
func (t *table) step(state uint32, x *step) (next, v, n uint32) {
	n = (state + x.bits) >> 16 & 31
	return uint32(t.next[uint32(int32(state>>n)+x.find)&(maxTable-1)]), state & (1<<n - 1), n
}
