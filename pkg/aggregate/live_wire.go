package aggregate

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"warp/internal/wire"
)

// Append writes the state, so that Merge of another machine's Live can add it.
// What costs is in proportion to what there is: a histogram is the buckets that
// are not empty.
func (l *Live) Append(b []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	b = binary.AppendUvarint(b, uint64(len(l.ops)))
	for _, op := range l.ops {
		b = wire.AppendText(b, op.name)
		b = binary.AppendVarint(b, op.first)
		for _, n := range [...]uint64{op.requests, op.errors, op.bytes, op.objects} {
			b = binary.AppendUvarint(b, n)
		}
		b = op.latency.append(b)
		b = op.appendSlots(b)
	}
	return b
}

func (o *liveOp) appendSlots(b []byte) []byte {
	used := 0
	for i := range o.slots {
		if o.slots[i].requests > 0 {
			used++
		}
	}
	b = binary.AppendUvarint(b, uint64(used))
	for i := range o.slots {
		if c := &o.slots[i]; c.requests > 0 {
			b = binary.AppendVarint(b, c.slot)
			for _, n := range [...]uint64{c.requests, c.bytes, c.objects} {
				b = binary.AppendUvarint(b, n)
			}
			b = binary.AppendVarint(b, c.busy)
		}
	}
	return b
}

// A LiveState is the state of another machine's Live, read from what its Append
// has written.
type LiveState struct{ ops []*liveOp }

// errLive says that a state was not written by Append.
var errLive = errors.New("the figures of a client cannot be read")

// Bounds of what a hostile state can cost.
const (
	maxLiveOps  = 64
	maxLiveName = 64
)

// ReadLive reads a state whose clock is ahead of ours by the given ns.
func ReadLive(b []byte, ahead int64) (*LiveState, error) {
	r := &wireReader{wire.NewReader(b), maxLiveOps * octaves}
	s := &LiveState{}
	n := r.Uint()
	if n > maxLiveOps {
		return nil, errLive
	}
	for range n {
		op := r.op(ahead)
		if r.Bad {
			return nil, errLive
		}
		s.ops = append(s.ops, op)
	}
	if r.Bad || r.Left() > 0 {
		return nil, errLive
	}
	return s, nil
}

// A wireReader takes figures from the front. A histogram takes much more memory
// than its bytes do, so that what all of them may take is limited.
type wireReader struct {
	wire.Reader
	pages int // of histograms that may still be made, of 1 KiB each
}

func (r *wireReader) op(ahead int64) *liveOp {
	o := &liveOp{name: r.Text(maxLiveName)}
	o.first = r.Int() - ahead
	for _, p := range [...]*uint64{&o.requests, &o.errors, &o.bytes, &o.objects} {
		*p = r.Uint()
	}
	r.hist(&o.latency)
	n := r.Uint()
	if n > liveSlots {
		r.Bad = true
		return o
	}
	shift := floorDiv(ahead+liveSlot/2, liveSlot) // to the nearest
	for range n {
		c := liveCount{slot: r.Int() - shift, requests: r.Uint(), bytes: r.Uint(), objects: r.Uint(), busy: r.Int()}
		o.slots[slotIndex(c.slot)] = c
	}
	return o
}

func slotIndex(slot int64) int64 { return (slot%liveSlots + liveSlots) % liveSlots }

// Merge adds the state of another machine. The latest of what ended counts.
func (l *Live) Merge(s *LiveState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, theirs := range s.ops {
		op := l.op(strings.Clone(theirs.name), theirs.first)
		op.first = min(op.first, theirs.first)
		op.requests = sum64(op.requests, theirs.requests)
		op.errors = sum64(op.errors, theirs.errors)
		op.bytes = sum64(op.bytes, theirs.bytes)
		op.objects = sum64(op.objects, theirs.objects)
		op.latency.Merge(&theirs.latency)
		for i := range theirs.slots {
			op.slots[i].merge(&theirs.slots[i])
		}
	}
}

func (c *liveCount) merge(o *liveCount) {
	switch {
	case o.requests == 0, c.requests > 0 && o.slot < c.slot:
		return
	case c.requests == 0, o.slot > c.slot:
		*c = *o
		return
	}
	c.requests = sum64(c.requests, o.requests)
	c.bytes = sum64(c.bytes, o.bytes)
	c.objects = sum64(c.objects, o.objects)
	c.busy = addSat(c.busy, o.busy)
}

// append writes a histogram: its sums, then the buckets that are not empty, each
// by its distance from the one before.
func (h *Hist) append(b []byte) []byte {
	for _, n := range [...]uint64{h.count, h.min, h.max, h.sum.Hi, h.sum.Lo, h.squares.Hi, h.squares.Lo} {
		b = binary.AppendUvarint(b, n)
	}
	used := 0
	for _, p := range &h.pages {
		if p != nil {
			used += subs - countZero(p)
		}
	}
	b = binary.AppendUvarint(b, uint64(used))
	last := -1
	for page, p := range &h.pages {
		if p == nil {
			continue
		}
		for sub, n := range p {
			if n > 0 {
				at := page*subs + sub
				b = binary.AppendUvarint(b, uint64(at-last))
				b = binary.AppendUvarint(b, n)
				last = at
			}
		}
	}
	return b
}

func countZero(p *[subs]uint64) (n int) {
	for _, v := range p {
		if v == 0 {
			n++
		}
	}
	return n
}

// hist reads what append has written.
func (r *wireReader) hist(h *Hist) {
	for _, p := range [...]*uint64{&h.count, &h.min, &h.max, &h.sum.Hi, &h.sum.Lo, &h.squares.Hi, &h.squares.Lo} {
		*p = r.Uint()
	}
	used := r.Uint()
	at, total := -1, uint64(0)
	for range used {
		step, n := r.Uint(), r.Uint()
		if r.Bad || step == 0 || step > octaves*subs || n > math.MaxUint64-total {
			r.Bad = true
			return
		}
		at += int(step)
		total += n
		if at >= octaves*subs {
			r.Bad = true
			return
		}
		page := h.pages[at/subs]
		if page == nil {
			if r.pages--; r.pages < 0 {
				r.Bad = true
				return
			}
			page = new([subs]uint64)
			h.pages[at/subs] = page
		}
		page[at%subs] = n
	}
	// A count that is not the sum of its buckets would make quantiles of nothing.
	r.Bad = r.Bad || total != h.count || h.min > h.max || h.max > maxValue
}
