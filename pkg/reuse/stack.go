package reuse

import (
	"math"
	"slices"
)

// A stack orders objects by their last use, and adds up the sizes of those that were used after a given one.
//
// A deletion leaves a hole of the size of the object: caches that had the object now have room, and those that had evicted it
// do not. The next object that comes to the top fills the holes from the top down. Objects below a hole do not move then, because
// a cache evicts none of them as long as there is room. The same holds for the place from which an object moves to the top.
type stack struct {
	index map[uint64]int32 // of objects
	uses  []use            // by time of the last use; a later object has a higher index
	sums  []int64          // Fenwick tree of the sizes in uses
	holes []int32          // heap of the indexes of holes, the highest at the top
}

// A use is an object at the time of its last use, or a hole.
type use struct {
	object uint64
	size   int64
	hole   bool
}

// objects returns the number of objects.
func (s *stack) objects() int { return len(s.index) }

// size returns the size of an object.
func (s *stack) size(object uint64) (int64, bool) {
	i, ok := s.index[object]
	if !ok {
		return 0, false
	}
	return s.uses[i].size, true
}

// distance returns the sum of the sizes from the top down to an object, including the object and holes.
func (s *stack) distance(object uint64) int64 {
	return s.below(len(s.uses)) - s.below(int(s.index[object]))
}

// remove makes a hole of an object. It returns false if there is none.
func (s *stack) remove(object uint64) bool {
	i, ok := s.index[object]
	if !ok {
		return false
	}
	delete(s.index, object)
	s.uses[i].hole = true
	s.pushHole(i)
	return true
}

// push puts an object that is not in the stack on top.
func (s *stack) push(object uint64, size int64) {
	left := size
	for left > 0 && len(s.holes) > 0 {
		i := s.holes[0]
		filled := min(left, s.uses[i].size)
		left -= filled
		s.uses[i].size -= filled
		s.add(int(i), -filled)
		if s.uses[i].size == 0 {
			s.popHole()
		}
	}
	if len(s.uses) == cap(s.sums) {
		s.compact()
	}
	if s.index == nil {
		s.index = make(map[uint64]int32)
	}
	s.index[object] = int32(len(s.uses))
	s.uses = append(s.uses, use{object: object, size: size})
	s.append(size)
}

// thin removes the objects that the sample no longer has, as if they had never been there. Holes become smaller by the factor.
func (s *stack) thin(sample *Sample, factor float64) {
	for i := range s.uses {
		u := &s.uses[i]
		switch {
		case u.hole:
			u.size = int64(math.Round(float64(u.size) * factor))
		case !sample.Has(u.object):
			delete(s.index, u.object)
			*u = use{hole: true}
		}
	}
	s.compact()
}

// compact removes holes that are filled or below all objects, joins neighbouring ones, and makes room for as many uses as
// there are.
func (s *stack) compact() {
	kept := s.uses[:0]
	for _, u := range s.uses {
		switch last := len(kept) - 1; {
		case u.hole && (u.size == 0 || last < 0):
		case u.hole && kept[last].hole:
			kept[last].size += u.size
		default:
			kept = append(kept, u)
		}
	}
	s.uses, s.holes = kept, s.holes[:0]
	s.sums = make([]int64, 0, max(1024, 2*len(kept)))
	for i, u := range kept {
		s.append(u.size)
		if u.hole {
			s.holes = append(s.holes, int32(i))
		} else {
			s.index[u.object] = int32(i)
		}
	}
	slices.Reverse(s.holes) // a list in descending order is a heap
}

// append adds an element to the Fenwick tree. Element i, from 1, has the sum of the last i&-i sizes.
func (s *stack) append(size int64) {
	i := len(s.sums) + 1
	for step := 1; step < i&-i; step *= 2 {
		size += s.sums[i-step-1]
	}
	s.sums = append(s.sums, size)
}

// add changes the size of element i, from 0.
func (s *stack) add(i int, change int64) {
	for i++; i <= len(s.sums); i += i & -i {
		s.sums[i-1] += change
	}
}

// below returns the sum of the sizes of elements before i, from 0.
func (s *stack) below(i int) (sum int64) {
	for ; i > 0; i &= i - 1 {
		sum += s.sums[i-1]
	}
	return sum
}

// pushHole adds a hole to the heap.
func (s *stack) pushHole(hole int32) {
	s.holes = append(s.holes, hole)
	for i := len(s.holes) - 1; i > 0; {
		parent := (i - 1) / 2
		if s.holes[parent] >= s.holes[i] {
			return
		}
		s.holes[parent], s.holes[i] = s.holes[i], s.holes[parent]
		i = parent
	}
}

// popHole removes the top of the heap.
func (s *stack) popHole() {
	last := len(s.holes) - 1
	s.holes[0] = s.holes[last]
	s.holes = s.holes[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return
		}
		if child+1 < last && s.holes[child+1] > s.holes[child] {
			child++
		}
		if s.holes[i] >= s.holes[child] {
			return
		}
		s.holes[i], s.holes[child] = s.holes[child], s.holes[i]
		i = child
	}
}

// uncertainty returns the relative standard error of the size of the objects that a cache has, if they are a sample.
func (s *stack) uncertainty(cache int64) float64 {
	var sizes, squares float64
	for _, u := range slices.Backward(s.uses) {
		if u.hole {
			continue
		}
		if sizes += float64(u.size); sizes > float64(cache) {
			break
		}
		squares += float64(u.size) * float64(u.size)
	}
	if sizes == 0 {
		return 0
	}
	return math.Sqrt(squares) / sizes
}
