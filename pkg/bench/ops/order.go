package ops

import (
	"sync/atomic"

	"warp/pkg/generator"
)

// An order gives all objects to the workers, pass after pass. Each pass has a
// different order and contains each object once. A worker claims the next
// position with one atomic addition and computes the object at that position, so no
// worker waits for another.
type order struct {
	seed    uint64
	stream  int // clients that share a seed have different orders
	objects int
	epochs  int // passes before the end; 0 = no end

	taken atomic.Int64
	pass  atomic.Pointer[pass]
}

// A pass is the order of one pass, computed by its first worker.
type pass struct {
	number int64
	order  generator.Permutation
}

// next returns the object of the next request; ok is false after the last pass.
func (o *order) next() (object int, ok bool) {
	position := o.taken.Add(1) - 1
	number := position / int64(o.objects)
	if o.epochs > 0 && number >= int64(o.epochs) {
		return 0, false
	}
	p := o.pass.Load()
	if p == nil || p.number != number {
		p = &pass{number, generator.NewPermutation(o.seed, uint64(o.stream)<<32+uint64(number), o.objects)}
		o.pass.Store(p) // a late worker may restore the previous pass; the next one then computes this again
	}
	return p.order.At(int(position % int64(o.objects))), true
}
