package oplog

import "sort"

// piles hold rows and give back the smallest: patience sorting. A row goes onto
// the pile whose last row is the largest that is not larger, so every pile is
// in order, and so are the last rows of the piles. A log needs about as many
// piles as its run had threads, whether rows come as they ended or in turns of
// the threads; a heap of all rows would compare each with a dozen others, all
// over the memory.
type piles struct {
	slots []pileRow
	rows  int       // in use
	next  uint32    // slot that was reserved last, behind which the search for a free one goes on
	tails []pileKey // of the last rows, from the largest to the smallest
	heads []pileKey // of the first rows, a heap
	last  int       // in tails, where the row before went
	bytes int       // of bodies
}

type pileRow struct {
	sortRow
	run  uint32 // sorted file that it is to be written to
	next uint32 // slot of the next row of the pile, or noSlot; freeSlot if the slot is
}

// A pileKey is what decides about order, except the body.
type pileKey struct {
	start int64
	run   uint32
	slot  uint32
}

const (
	noSlot   = 1<<32 - 1
	freeSlot = 1<<32 - 2
)

// len is the number of rows.
func (p *piles) len() int { return p.rows }

func (p *piles) less(a, b pileKey) bool {
	if a.run != b.run {
		return a.run < b.run
	}
	if a.start != b.start {
		return a.start < b.start
	}
	return p.slots[a.slot].compare(&p.slots[b.slot].sortRow) < 0
}

// reserve returns the row that push adds next, for the caller to fill. What is in its body is free to be used again.
func (p *piles) reserve() *sortRow {
	p.next = p.slot()
	return &p.slots[p.next].sortRow
}

// push adds the row that was reserved.
func (p *piles) push(run uint32) {
	s := &p.slots[p.next]
	k := pileKey{s.start, run, p.next}
	s.run, s.next = run, noSlot
	p.bytes += len(s.body)
	p.rows++
	p.last = p.find(k)
	if p.last == len(p.tails) {
		p.tails = append(p.tails, k)
		p.heads = append(p.heads, k)
		p.up(len(p.heads) - 1)
		return
	}
	p.slots[p.tails[p.last].slot].next = k.slot
	p.tails[p.last] = k
}

// find returns the pile for a row, mostly that of the row before.
func (p *piles) find(k pileKey) int {
	if i := p.last; i < len(p.tails) && !p.less(k, p.tails[i]) && (i == 0 || p.less(k, p.tails[i-1])) {
		return i
	}
	return sort.Search(len(p.tails), func(i int) bool { return !p.less(k, p.tails[i]) })
}

// slot finds room for a row. Rows get theirs round and round, so that those
// which came one after the other, and mostly leave so, are neighbours in
// memory. There are a third more slots than rows, for the search to be short.
func (p *piles) slot() uint32 {
	if n := p.rows + 1; len(p.slots) < n+n/3 {
		p.slots = append(p.slots, pileRow{})
		return uint32(len(p.slots) - 1)
	}
	for at := p.next; ; {
		if at++; int(at) >= len(p.slots) {
			at = 0
		}
		if p.slots[at].next == freeSlot {
			return at
		}
	}
}

// pop takes the smallest row out. It is valid until the next push.
func (p *piles) pop() (row *sortRow, run uint32) {
	top := p.heads[0]
	s := &p.slots[top.slot]
	if s.next != noSlot {
		next := &p.slots[s.next]
		p.heads[0] = pileKey{next.start, next.run, s.next}
	} else {
		// The last row of its pile is the smallest of all, hence of all last ones.
		p.tails = p.tails[:len(p.tails)-1]
		n := len(p.heads) - 1
		p.heads[0] = p.heads[n]
		p.heads = p.heads[:n]
	}
	p.down()
	p.bytes -= len(s.body)
	p.rows--
	s.next = freeSlot
	return &s.sortRow, top.run
}

func (p *piles) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !p.less(p.heads[i], p.heads[parent]) {
			return
		}
		p.heads[i], p.heads[parent] = p.heads[parent], p.heads[i]
		i = parent
	}
}

func (p *piles) down() {
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(p.heads) {
			return
		}
		if c+1 < len(p.heads) && p.less(p.heads[c+1], p.heads[c]) {
			c++
		}
		if !p.less(p.heads[c], p.heads[i]) {
			return
		}
		p.heads[i], p.heads[c] = p.heads[c], p.heads[i]
		i = c
	}
}
