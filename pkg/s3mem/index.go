package s3mem

import (
	"slices"
	"sort"
	"strings"
)

// chunkSize limits how much an insertion moves.
const chunkSize = 512

// index keeps objects sorted by key, in chunks: a tree of two levels. It serves both look-ups and
// listings at the cost of little more than a pointer per object. A map and a skip list would cost
// more than a small object.
type index struct {
	chunks [][]*object // none is empty
	n      int
}

// seek returns the position of the first key that is not below key.
func (x *index) seek(key string) cursor {
	i := max(sort.Search(len(x.chunks), func(i int) bool { return x.chunks[i][0].key > key })-1, 0)
	if i == len(x.chunks) {
		return cursor{x, i, 0}
	}
	j, _ := slices.BinarySearchFunc(x.chunks[i], key, func(o *object, key string) int { return strings.Compare(o.key, key) })
	c := cursor{x, i, j}
	c.settle()
	return c
}

func (x *index) get(key string) *object {
	if o := x.seek(key).object(); o != nil && o.key == key {
		return o
	}
	return nil
}

// set stores an object and returns the one that it replaces.
func (x *index) set(o *object) (old *object) {
	if len(x.chunks) == 0 {
		x.chunks, x.n = [][]*object{append(make([]*object, 0, chunkSize), o)}, 1
		return nil
	}
	i := max(sort.Search(len(x.chunks), func(i int) bool { return x.chunks[i][0].key > o.key })-1, 0)
	chunk := x.chunks[i]
	j, found := slices.BinarySearchFunc(chunk, o.key, func(o *object, key string) int { return strings.Compare(o.key, key) })
	if found {
		old, chunk[j] = chunk[j], o
		return old
	}
	x.n++
	if len(chunk) == chunkSize {
		// If keys arrive in order, splitting in the middle would leave every chunk half empty.
		cut := chunkSize / 2
		if j == chunkSize {
			cut = chunkSize - 1
		}
		right := append(make([]*object, 0, chunkSize), chunk[cut:]...)
		clear(chunk[cut:])
		x.chunks[i] = chunk[:cut]
		x.chunks = slices.Insert(x.chunks, i+1, right)
		if j > cut {
			i, j = i+1, j-cut
		}
	}
	x.chunks[i] = slices.Insert(x.chunks[i], j, o)
	return nil
}

// remove removes an object and returns it, or nil if there is none.
func (x *index) remove(key string) *object {
	c := x.seek(key)
	o := c.object()
	if o == nil || o.key != key {
		return nil
	}
	x.n--
	x.chunks[c.i] = slices.Delete(x.chunks[c.i], c.j, c.j+1)
	if len(x.chunks[c.i]) == 0 {
		x.chunks = slices.Delete(x.chunks, c.i, c.i+1)
	}
	return o
}

// A cursor is a position in an index that does not change meanwhile.
type cursor struct {
	x    *index
	i, j int
}

func (c *cursor) settle() {
	if c.i < len(c.x.chunks) && c.j == len(c.x.chunks[c.i]) {
		c.i, c.j = c.i+1, 0
	}
}

// object returns the object at the cursor, or nil at the end.
func (c cursor) object() *object {
	if c.i >= len(c.x.chunks) {
		return nil
	}
	return c.x.chunks[c.i][c.j]
}

func (c *cursor) next() {
	c.j++
	c.settle()
}
