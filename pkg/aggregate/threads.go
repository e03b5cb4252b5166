package aggregate

import "math/bits"

// maxThread is the highest thread number; readers of the log check it.
const maxThread = 1<<16 - 1

// A threadSet holds the thread numbers that a client has used, as bits.
type threadSet []uint64

func (s *threadSet) add(thread uint32) {
	n := min(thread, maxThread)
	for int(n/64) >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s *threadSet) merge(o threadSet) {
	for i, word := range o {
		if i == len(*s) {
			*s = append(*s, 0)
		}
		(*s)[i] |= word
	}
}

func (s threadSet) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// valid reports whether a decoded set is not too large.
func (s threadSet) valid() bool { return len(s) <= (maxThread+1)/64 }
