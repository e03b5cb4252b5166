package aggregate

import (
	"encoding/binary"

	"warp/internal/wire"
)

// Limits of what a hostile part of a summary can cost.
const (
	maxSummaryPages = 1 << 17
	maxHosts        = 1 << 14
	maxName         = 1 << 10
)

// append writes what was counted in a window. Objects and size classes, which
// --analyze.v shows, do not travel.
func (p *phase) append(b []byte) []byte {
	s := p.filter.summary
	b = binary.AppendUvarint(b, uint64(p.filter.passed))
	b = binary.AppendUvarint(b, uint64(len(p.filter.hosts.keys)))
	for _, name := range p.filter.hosts.keys {
		b = wire.AppendText(b, name)
	}
	b = binary.AppendUvarint(b, uint64(len(s.ops)))
	for _, op := range s.ops {
		b = wire.AppendText(b, op.name)
		b = binary.AppendUvarint(b, uint64(len(op.hosts.keys)))
		for i, name := range op.hosts.keys {
			b = op.hosts.vals[i].append(wire.AppendText(b, name))
		}
		b = binary.AppendUvarint(b, uint64(len(op.clients.keys)))
		for i, c := range op.clients.keys {
			b = op.clients.vals[i].append(wire.AppendText(wire.AppendText(b, c.run), c.id))
		}
	}
	return b
}

func (t *tally) append(b []byte) []byte {
	for _, n := range [...]uint64{t.requests, t.errors, t.bytes, t.objects} {
		b = binary.AppendUvarint(b, n)
	}
	return t.ttfb.append(t.latency.append(b))
}

func (h *hostSummary) append(b []byte) []byte {
	b = h.tally.append(b)
	b = binary.AppendUvarint(b, uint64(len(h.segs)))
	for i := range h.segs {
		for _, n := range h.segs[i].numbers() {
			b = binary.AppendUvarint(b, *n)
		}
	}
	b = h.kinds.append(b)
	for _, n := range h.numbers() {
		b = binary.AppendUvarint(b, *n)
	}
	b = h.lag.append(h.response.append(b))
	if h.phases == nil {
		return append(b, 0)
	}
	b = append(b, 1)
	for i := range h.phases {
		b = h.phases[i].append(b)
	}
	return b
}

// numbers are all that there are of a segment.
func (g *segment) numbers() [7]*uint64 {
	return [...]*uint64{&g.bytes, &g.objects, &g.full, &g.partial, &g.started, &g.ended, &g.errors}
}

// numbers are those of a host that are by themselves.
func (h *hostSummary) numbers() [13]*uint64 {
	z := &h.sizes
	return [...]*uint64{
		&h.due, &h.scheduled, &h.backwards, &h.retries,
		&z.n, &z.minBytes, &z.maxBytes, &z.minObjects, &z.maxObjects, &z.bytes.hi, &z.bytes.lo, &z.objects.hi, &z.objects.lo,
	}
}

func (e *errorKinds) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(e.byCode)))
	for _, code := range e.codes() {
		b = e.byCode[code].append(wire.AppendText(b, code[:min(len(code), maxErrorText)]))
	}
	return e.other.append(b)
}

func (k *errorKind) append(b []byte) []byte {
	b = binary.AppendVarint(binary.AppendUvarint(b, k.count), k.start)
	return wire.AppendText(wire.AppendText(b, k.text), k.endpoint)
}

// phase reads what append has written, of a window that is known here.
func (r *wireReader) phase(g *Group) *phase {
	p := &phase{}
	p.filter.summary = &Summary{plan: &Plan{}, open: g}
	p.filter.passed = int64(r.Uint())
	for range r.Length(maxHosts) {
		if name := r.Text(maxName); p.filter.hosts.get(name) == nil {
			p.filter.hosts.put(name, new(bool))
		}
	}
	for range r.Length(maxLiveOps) {
		r.operation(p.filter.summary)
	}
	return p
}

func (r *wireReader) operation(s *Summary) {
	op := &opSummary{opID: opID{name: r.Text(maxLiveName)}, group: s.open}
	s.ops = append(s.ops, op)
	for range r.Length(maxHosts) {
		name := r.Text(maxName)
		r.Bad = r.Bad || op.hosts.get(name) != nil
		r.host(op.hosts.put(name, op.newHost()))
	}
	for range r.Length(maxHosts) {
		c := client{r.Text(maxName), r.Text(maxName)}
		r.Bad = r.Bad || op.clients.get(c) != nil
		r.tally(op.clients.put(c, &tally{}))
	}
}

func (r *wireReader) tally(t *tally) {
	for _, n := range [...]*uint64{&t.requests, &t.errors, &t.bytes, &t.objects} {
		*n = r.Uint()
	}
	r.hist(&t.latency)
	r.hist(&t.ttfb)
}

func (r *wireReader) host(h *hostSummary) {
	r.tally(&h.tally)
	h.segs = nil
	for range r.Length(h.limit()) {
		var g segment
		for _, n := range g.numbers() {
			*n = r.Uint()
		}
		h.segs = append(h.segs, g)
	}
	for range r.Length(maxKinds) {
		h.kinds.merge(r.Text(maxErrorText), r.errorKind())
	}
	h.kinds.other.merge(r.errorKind())
	for _, n := range h.numbers() {
		*n = r.Uint()
	}
	r.hist(&h.response)
	r.hist(&h.lag)
	if r.Uint() == 1 {
		for i := range h.traced() {
			r.hist(&h.phases[i])
		}
	}
}

func (r *wireReader) errorKind() errorKind {
	return errorKind{count: r.Uint(), start: r.Int(), text: r.Text(maxErrorText), endpoint: r.Text(maxName)}
}
