// Package generator makes the data of a benchmark: payload bytes, object sizes and object names.
// Everything follows from one seed, so that a run can be repeated and its objects verified, on any
// platform.
package generator

import (
	"math/bits"
	"math/rand/v2"
)

// A Stream has the random numbers for one purpose. It is used by one goroutine at a time.
type Stream struct {
	*rand.Rand
	source *rand.PCG
	key    uint64 // of the order of strata
	drawn  uint64 // strata
}

// Rand returns the random numbers for one purpose under a seed. Streams of different purposes or
// indices are independent, so a worker that draws more often does not affect the others.
func Rand(seed uint64, purpose string, index int) *Stream {
	stream := derive(seed, purpose, uint64(index))
	return newStream(rand.NewPCG(stream, mix(stream+golden)), mix(stream-golden))
}

func newStream(source *rand.PCG, key uint64) *Stream {
	return &Stream{Rand: rand.New(source), source: source, key: key}
}

// Clone returns a stream that continues with the same numbers as s, independently of it.
func (s *Stream) Clone() *Stream {
	source := *s.source
	clone := newStream(&source, s.key)
	clone.drawn = s.drawn
	return clone
}

// strataBits is the binary logarithm of the number of strata in a pass.
const strataBits = 16

// stratified returns a random number in [0, 1). Successive numbers are stratified: each aligned run
// of 2^k numbers, up to 2^strataBits, has one number in each of the 2^k equal slices of the range,
// in random order. Means of few numbers are therefore much closer to the expected value than those
// of independent ones. (It is a van der Corput sequence with nested scrambling.)
func (s *Stream) stratified() float64 {
	pass, position := s.drawn>>strataBits, bits.Reverse64(s.drawn)>>(64-strataBits)
	s.drawn++
	key := mix(s.key + golden*pass)
	slice := uint64(1) // the bits so far below a leading 1, so that each level has its own numbers
	for level := strataBits - 1; level >= 0; level-- {
		slice = slice<<1 | (position>>level^mix(key^slice))&1
	}
	return (float64(slice-1<<strataBits) + s.Float64()) / (1 << strataBits)
}

// golden is 2^64 divided by the golden ratio: the customary step between inputs of mix.
const golden = 0x9e3779b97f4a7c15

// mix is the finalizer of SplitMix64: a bijection, so different inputs have different results.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// unmix undoes mix.
func unmix(x uint64) uint64 {
	x ^= x>>31 ^ x>>62
	x *= 0x319642b2d24d8ec3
	x ^= x>>27 ^ x>>54
	x *= 0x96de1b173f119089
	return x ^ x>>30 ^ x>>60
}

// derive hashes seed, purpose and index to the start of an independent stream.
func derive(seed uint64, purpose string, index uint64) uint64 {
	return mix(mix(mix(seed+golden)^hashString(purpose)) + golden*(index+1))
}

// hashString is FNV-1a, which suits short strings, is the same everywhere, and does not allocate.
func hashString(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h
}

// below draws from [0, n). The bias is n/2^64, too small to show in any sample. In exchange every
// draw takes one number from the stream, whatever the platform's word size, which rand.Rand.Int64N
// does not promise.
func below(r *Stream, n int64) int64 {
	hi, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int64(hi)
}
