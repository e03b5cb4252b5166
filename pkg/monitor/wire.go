package monitor

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"warp/internal/exact"
	"warp/internal/wire"
	"warp/pkg/stats"
)

// Append encodes the state, so that Merge of another machine's Live can add it. The size depends on
// the content: a histogram contains only its non-empty buckets.
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
		b = op.latency.Append(b)
		b = op.appendSlots(b)
	}
	hosts := l.hostList()
	hosts = hosts[:min(len(hosts), maxHosts)]
	b = binary.AppendUvarint(b, uint64(len(hosts)))
	for _, h := range hosts {
		b = wire.AppendText(b, h.Name[:min(len(h.Name), maxHostName)])
		for _, n := range [...]uint64{h.Requests, h.Errors, h.Bytes, h.Objects} {
			b = binary.AppendUvarint(b, n)
		}
		b = binary.AppendVarint(b, int64(h.Busy))
	}
	return b
}

func (o *opCounts) appendSlots(b []byte) []byte {
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

// A State is the decoded state of another machine's Live.
type State struct {
	ops   []*opCounts
	hosts []Part
}

// Total returns the figures of the machine for all hosts, under a name for it.
func (s *State) Total(name string) Part {
	sum := Part{Name: name}
	for i := range s.hosts {
		sum.Add(&s.hosts[i])
	}
	return sum
}

// errState reports data that Append has not written.
var errState = errors.New("the figures of a client cannot be read")

// Limits on the cost of a hostile state.
const (
	maxOps      = 64
	maxOpName   = 64
	maxHosts    = 1024
	maxHostName = 512
)

// Read decodes a state whose clock is ahead of ours by the given ns.
func Read(b []byte, ahead int64) (*State, error) {
	r := &wireReader{wire.NewReader(b), maxOps * stats.HistogramPages}
	s := &State{}
	n := r.Uint()
	if n > maxOps {
		return nil, errState
	}
	for range n {
		op := r.op(ahead)
		if r.Bad {
			return nil, errState
		}
		s.ops = append(s.ops, op)
	}
	if n = r.Uint(); n > maxHosts {
		return nil, errState
	}
	for range n {
		h := Part{Name: r.Text(maxHostName)}
		for _, p := range [...]*uint64{&h.Requests, &h.Errors, &h.Bytes, &h.Objects} {
			*p = r.Uint()
		}
		h.Busy = time.Duration(r.Int())
		if r.Bad {
			return nil, errState
		}
		s.hosts = append(s.hosts, h)
	}
	if r.Bad || r.Left() > 0 {
		return nil, errState
	}
	return s, nil
}

// A wireReader decodes figures. A histogram takes much more memory than its encoded bytes, so the
// memory for all of them is limited.
type wireReader struct {
	wire.Reader
	pages int // pages of 1 KiB that histograms may still use
}

func (r *wireReader) op(ahead int64) *opCounts {
	o := &opCounts{name: r.Text(maxOpName)}
	o.first = r.Int() - ahead
	for _, p := range [...]*uint64{&o.requests, &o.errors, &o.bytes, &o.objects} {
		*p = r.Uint()
	}
	o.latency.Read(&r.Reader, &r.pages)
	n := r.Uint()
	if n > slotsKept {
		r.Bad = true
		return o
	}
	shift := exact.FloorDiv(ahead+slotLength/2, slotLength) // to the nearest
	for range n {
		c := slotCounts{slot: r.Int() - shift, requests: r.Uint(), bytes: r.Uint(), objects: r.Uint(), busy: r.Int()}
		o.slots[slotIndex(c.slot)] = c
	}
	return o
}

func slotIndex(slot int64) int64 { return (slot%slotsKept + slotsKept) % slotsKept }

// Merge adds the state of another machine. It keeps the latest slots.
func (l *Live) Merge(s *State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, theirs := range s.ops {
		op := l.op(strings.Clone(theirs.name), theirs.first)
		op.first = min(op.first, theirs.first)
		op.requests = exact.AddUint(op.requests, theirs.requests)
		op.errors = exact.AddUint(op.errors, theirs.errors)
		op.bytes = exact.AddUint(op.bytes, theirs.bytes)
		op.objects = exact.AddUint(op.objects, theirs.objects)
		op.latency.Merge(&theirs.latency)
		for i := range theirs.slots {
			op.slots[i].merge(&theirs.slots[i])
		}
	}
	for i := range s.hosts {
		l.host(s.hosts[i].Name).Add(&s.hosts[i])
	}
}

func (c *slotCounts) merge(o *slotCounts) {
	switch {
	case o.requests == 0, c.requests > 0 && o.slot < c.slot:
		return
	case c.requests == 0, o.slot > c.slot:
		*c = *o
		return
	}
	c.requests = exact.AddUint(c.requests, o.requests)
	c.bytes = exact.AddUint(c.bytes, o.bytes)
	c.objects = exact.AddUint(c.objects, o.objects)
	c.busy = exact.AddInt(c.busy, o.busy)
}
