// Package generator makes the data of a benchmark: payload bytes, object sizes and object names.
// Everything follows from one seed, so that a run can be repeated and its objects verified, on any
// platform.
package generator

import (
	"math/bits"
	"math/rand/v2"
)

// Rand returns the random numbers for one purpose under a seed. Streams of different purposes or
// indices are independent, so a worker that draws more often does not affect the others.
func Rand(seed uint64, purpose string, index int) *rand.Rand {
	stream := derive(seed, purpose, uint64(index))
	return rand.New(rand.NewPCG(stream, mix(stream+golden)))
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
func below(r *rand.Rand, n int64) int64 {
	hi, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int64(hi)
}
