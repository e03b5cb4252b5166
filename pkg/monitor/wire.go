package monitor

import (
	"encoding/binary"
	"errors"
	"strings"

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
		b = op.Counter.Append(b)
		b = op.latency.Append(b)
		b = op.appendSlots(b)
	}
	hosts := l.hostList()
	hosts = hosts[:min(len(hosts), maxHosts)]
	b = binary.AppendUvarint(b, uint64(len(hosts)))
	for _, h := range hosts {
		b = wire.AppendText(b, h.Name[:min(len(h.Name), maxHostName)])
		b = h.Counter.Append(b)
	}
	return b
}

func (o *opCounts) appendSlots(b []byte) []byte {
	used := 0
	for i := range o.slots {
		if o.slots[i].Requests > 0 {
			used++
		}
	}
	b = binary.AppendUvarint(b, uint64(used))
	for i := range o.slots {
		if c := &o.slots[i]; c.Requests > 0 {
			b = c.Counter.Append(binary.AppendVarint(b, c.slot))
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
		sum.Merge(&s.hosts[i].Counter)
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
	for range r.Length(maxOps) {
		s.ops = append(s.ops, r.op(ahead))
	}
	for range r.Length(maxHosts) {
		h := Part{Name: r.Text(maxHostName)}
		h.Counter.Read(&r.Reader)
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
	o.Counter.Read(&r.Reader)
	o.latency.Read(&r.Reader, &r.pages)
	shift := exact.FloorDiv(ahead+slotLength/2, slotLength) // to the nearest
	for range r.Length(slotsKept) {
		c := slotCounts{slot: r.Int() - shift}
		c.Counter.Read(&r.Reader)
		o.slots[slotIndex(c.slot)] = c
	}
	return o
}

// Merge adds the state of another machine. It keeps the latest slots.
func (l *Live) Merge(s *State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, theirs := range s.ops {
		op := l.op(strings.Clone(theirs.name), theirs.first)
		op.first = min(op.first, theirs.first)
		op.Counter.Merge(&theirs.Counter)
		op.latency.Merge(&theirs.latency)
		for i := range theirs.slots {
			op.slots[i].merge(&theirs.slots[i])
		}
	}
	for i := range s.hosts {
		l.host(s.hosts[i].Name).Merge(&s.hosts[i].Counter)
	}
}

func (c *slotCounts) merge(o *slotCounts) {
	switch {
	case o.Requests == 0, c.Requests > 0 && o.slot < c.slot:
	case c.Requests == 0, o.slot > c.slot:
		*c = *o
	default:
		c.Counter.Merge(&o.Counter)
	}
}
