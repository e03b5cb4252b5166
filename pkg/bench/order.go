package bench

import (
	"sync/atomic"

	"warp/pkg/generator"
)

// An order leads all workers through the objects together, pass after pass. Each
// pass has a different order, and no object is twice in a pass. A worker takes the
// next place with one atomic addition and computes which object lies there, so no
// worker waits for another.
type order struct {
	seed    uint64
	stream  int // clients that share a seed have different orders
	objects int
	epochs  int // passes before the end; 0 = no end

	taken atomic.Int64
	pass  atomic.Pointer[pass]
}

// A pass is the order of one pass, made by the worker that gets there first.
type pass struct {
	number int64
	order  generator.Permutation
}

// next returns the object of the next request; ok is false after the last pass.
func (o *order) next() (object int, ok bool) {
	place := o.taken.Add(1) - 1
	number := place / int64(o.objects)
	if o.epochs > 0 && number >= int64(o.epochs) {
		return 0, false
	}
	p := o.pass.Load()
	if p == nil || p.number != number {
		p = &pass{number, generator.NewPermutation(o.seed, uint64(o.stream)<<32+uint64(number), o.objects)}
		o.pass.Store(p) // a late one of the pass before may put its own back, and cost the next a remake
	}
	return p.order.At(int(place % int64(o.objects))), true
}
