package oplog

import "sort"

// piles hold rows and give back the smallest: patience sorting. A row goes onto
// the pile whose last row is the largest that is not larger, so every pile is
// in order, and so are the last rows of the piles. A log needs about as many
// piles as its run had threads, whether rows come as they ended or in turns of
// the threads; a heap of all rows would compare each with a dozen others, all
// over the memory.
type piles struct {
	kinds  *kindTable // of the bodies
	tails  []pileKey  // of the last rows, from the largest to the smallest
	heads  []pileKey  // of the first rows, a heap
	last   int        // in tails, where the row before went
	all    []pile
	unused []uint32 // of these
	rows   int
	bytes  int // of bodies

	pushed, popped sortRow
	body           []byte // for a row that is not in its chunk before it is pushed
	inChunk        bool   // the row that is to be pushed probably is
	chunks         chunks
	emptied        *chunk // the row that was popped is in it
}

// A pileKey is what decides about order, except the body.
type pileKey struct {
	start int64
	run   uint32 // sorted file that the row is to be written to
	pile  uint32
}

// len is the number of rows.
func (p *piles) len() int { return p.rows }

// compare returns 0 where bodies have to decide.
func (a pileKey) compare(b pileKey) int {
	switch {
	case a.run < b.run, a.run == b.run && a.start < b.start:
		return -1
	case a == pileKey{b.start, b.run, a.pile}:
		return 0
	}
	return 1
}

// lessHead compares the first rows of two piles.
func (p *piles) lessHead(a, b pileKey) bool {
	c := a.compare(b)
	if c == 0 {
		x, y := p.all[a.pile].firstRow(p.kinds), p.all[b.pile].firstRow(p.kinds)
		c = x.compare(&y)
	}
	return c < 0
}

// before compares the row that is to be pushed with the last one of a pile.
func (p *piles) before(pushed, tail pileKey) bool {
	c := pushed.compare(tail)
	if c == 0 {
		x := p.all[tail.pile].lastRow(p.kinds)
		c = p.pushed.compare(&x)
	}
	return c < 0
}

// reserve returns the row that push adds next, for the caller to fill, whose body will have at most so many bytes; 0 if
// that is not known. Most rows come onto the pile of the row before, so that is where the body is.
func (p *piles) reserve(most int) *sortRow {
	s := &p.pushed
	s.kinds, s.body = p.kinds, p.body[:0]
	if p.inChunk = false; most > 0 && p.last < len(p.tails) {
		if b := p.all[p.tails[p.last].pile].last.room(most); b != nil {
			s.body, p.inChunk = b, true
		}
	}
	return s
}

// push adds the row that was reserved.
func (p *piles) push(run uint32) {
	s := &p.pushed
	k := pileKey{start: s.start, run: run}
	p.last = p.find(k)
	if p.last < len(p.tails) {
		k.pile = p.tails[p.last].pile
		p.tails[p.last] = k
	} else {
		k.pile = p.newPile()
		p.tails = append(p.tails, k)
	}
	isNew := p.all[k.pile].last == nil
	p.chunks.add(&p.all[k.pile], s, run, len(p.tails))
	if !p.inChunk && cap(s.body) <= largestChunk {
		p.body = s.body
	}
	if isNew {
		p.heads = append(p.heads, k)
		p.up(len(p.heads) - 1)
	}
	p.bytes += len(s.body)
	p.rows++
	s.body = nil
}

// find returns the pile for a row, mostly that of the row before.
func (p *piles) find(k pileKey) int {
	if i := p.last; i < len(p.tails) && !p.before(k, p.tails[i]) && (i == 0 || p.before(k, p.tails[i-1])) {
		return i
	}
	return sort.Search(len(p.tails), func(i int) bool { return !p.before(k, p.tails[i]) })
}

func (p *piles) newPile() uint32 {
	n := len(p.unused)
	if n == 0 {
		p.all = append(p.all, pile{})
		return uint32(len(p.all) - 1)
	}
	x := p.unused[n-1]
	p.unused = p.unused[:n-1]
	return x
}

// pop takes the smallest row out. It is valid until the next pop.
func (p *piles) pop() (row *sortRow, run uint32) {
	p.drop()
	k := p.heads[0]
	x := &p.all[k.pile]
	p.popped.kinds = p.kinds
	p.emptied = x.pop(&p.popped)
	if x.first != nil {
		start, next := x.firstKey()
		p.down(pileKey{start, next, k.pile})
	} else {
		// The last row of its pile is the smallest of all, hence of all last ones.
		p.unused = append(p.unused, k.pile)
		p.tails = p.tails[:len(p.tails)-1]
		n := len(p.heads) - 1
		last := p.heads[n]
		if p.heads = p.heads[:n]; n > 0 {
			p.down(last)
		}
	}
	p.bytes -= len(p.popped.body)
	p.rows--
	return &p.popped, k.run
}

// drop gives back what was kept for the row that was popped.
func (p *piles) drop() {
	p.chunks.drop(p.emptied)
	p.emptied = nil
}

func (p *piles) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !p.lessHead(p.heads[i], p.heads[parent]) {
			return
		}
		p.heads[i], p.heads[parent] = p.heads[parent], p.heads[i]
		i = parent
	}
}

// down puts a key in the place of the first one, and from there to where it belongs.
func (p *piles) down(k pileKey) {
	h, i := p.heads, 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) {
			c += p.firstIsLater(h[c], h[c+1])
		}
		if !p.lessHead(h[c], k) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = k
}

// firstIsLater returns 1 where b is before a. Which is so cannot be guessed, so there should be no jump.
func (p *piles) firstIsLater(a, b pileKey) (n int) {
	if a.run != b.run || a.start == b.start {
		if p.lessHead(b, a) {
			return 1
		}
		return 0
	}
	if b.start < a.start {
		n = 1
	}
	return n
}
