package generator

import "strings"

// An Arena cuts small strings from large ones, so that names cost few allocations. A
// builder only appends, so these strings never change.
type Arena struct {
	all strings.Builder
	buf []byte
}

// arenaBlock is the size of the large strings. It is small enough for thousands
// of workers, and for a string that stays alive because of a part of it.
const arenaBlock = 1 << 10

// Cut returns b as a string.
func (a *Arena) Cut(b []byte) string {
	if a.all.Cap()-a.all.Len() < len(b) {
		a.all = strings.Builder{}
		a.all.Grow(max(arenaBlock, len(b)))
	}
	from := a.all.Len()
	a.all.Write(b)
	return a.all.String()[from:]
}

// Key returns the name of object n of a thread.
func (a *Arena) Key(names *Names, thread uint32, n uint64) string {
	a.buf = names.AppendKey(a.buf[:0], thread, n)
	return a.Cut(a.buf)
}
