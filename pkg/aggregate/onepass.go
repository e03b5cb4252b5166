package aggregate

import (
	"slices"

	"warp/pkg/oplog"
)

// limits say how much an onePass keeps in mind.
type limits struct {
	open int // requests of a group that are enough to believe in the begin of its window
	held int // requests
	text int // bytes of their keys and errors
}

// The begin of a window is believed in after all threads had their turn: they
// hand over in turns of 100 ms, in which the fastest client makes 30,000
// requests. Twice that number takes 15 MB.
var usualLimits = limits{open: 1 << 16, held: 1 << 17, text: 8 << 20}

// An onePass is a survey that does the work of the second pass at the same
// time, as long as that is certain to be right: a request is counted when it
// ended before any thread of its group started its last one so far, for the
// window reaches at least to there. What is not certain is held back. Where it
// starts is believed after a while, and so is which operations are a group.
//
// In the end the survey of all rows says whether that was so. If it was, the
// summary is the one that a second pass would make, to the last digit; if not,
// or if too much was uncertain at once, the second pass has to be made.
type onePass struct {
	limits  limits
	options Options
	survey  Survey
	filter  filter

	gaveUp bool
	names  interner
	held   []held
	text   int
	retry  int // look at held again when it has that length
	opened []*openGroup
	byName []*openGroup // by number of the operation in names, nil where it is in none
}

// An openGroup is a group whose window has begun and has no end yet.
type openGroup struct {
	Group
	until int64 // what ended by then is in the summary
}

func newOnePass(o Options, l limits) *onePass {
	p := &onePass{limits: l, options: o, retry: l.open}
	p.filter = filter{op: o.Op, host: o.Host, summary: NewSummary(&Plan{}, o)}
	return p
}

// write is the only pass over a log, or the first one.
func (p *onePass) write(batch []oplog.Record) error {
	for i := range batch {
		if p.gaveUp {
			return p.survey.Write(batch[i:])
		}
		r := &batch[i]
		p.survey.Add(r)
		if len(p.held) == cap(p.held) {
			p.grow()
		}
		p.held = append(p.held, p.names.hold(r, p.options.Verbose))
		p.text += p.held[len(p.held)-1].text()
		if len(p.held) >= p.retry || p.text > p.limits.text {
			p.decide()
		}
	}
	return nil
}

// grow makes room for a short log at first, and then for all that is held of most long ones: to double it
// again and again would leave as much garbage behind.
func (p *onePass) grow() {
	more := 4096
	if n := len(p.held); n > 0 {
		more = min(max(n, p.limits.open), max(p.limits.held-n, 4096))
	}
	p.held = slices.Grow(p.held, more)
}

// giveUp leaves the counting to a second pass.
func (p *onePass) giveUp() {
	*p = onePass{gaveUp: true, options: p.options, survey: p.survey}
}

// decide counts what is certain.
func (p *onePass) decide() {
	for _, ops := range p.survey.groups() {
		if !p.advance(ops) {
			p.giveUp()
			return
		}
	}
	p.numberNames()
	p.release()
	if len(p.held) >= p.limits.held || p.text > p.limits.text {
		p.giveUp()
		return
	}
	p.retry = min(max(2*len(p.held), p.limits.open/4), p.limits.held)
}

// advance opens a group or learns that its window is longer than was known. It
// says whether what was believed of it may still be right.
func (p *onePass) advance(ops []*opSurvey) bool {
	if ops[0].scripted() {
		return true // its window is known in the end only
	}
	opens, closes, _ := p.survey.activeWindow(ops)
	g := p.openedWith(ops)
	start := addSat(opens, int64(max(p.options.Skip, 0)))
	if g != nil {
		ok := g.is(ops) && g.Start == start && closes >= g.until
		g.until = closes
		return ok && p.bounded(g)
	}
	group := p.survey.group(ops)
	if group.Requests < uint64(p.limits.open) || closes <= start {
		return true // not yet
	}
	group.Start, group.End, group.open, group.Segment = start, openEnd, true, p.options.SegmentDur
	g = &openGroup{group, closes}
	p.opened = append(p.opened, g)
	for _, op := range g.Ops {
		p.filter.summary.ops = append(p.filter.summary.ops, &opSummary{opID: op.id(), group: &g.Group})
	}
	return p.bounded(g)
}

// openedWith finds the group that any of the operations is in.
func (p *onePass) openedWith(ops []*opSurvey) *openGroup {
	for _, g := range p.opened {
		if slices.ContainsFunc(g.Ops, func(o GroupOp) bool {
			return slices.ContainsFunc(ops, func(s *opSurvey) bool { return s.opID == o.id() })
		}) {
			return g
		}
	}
	return nil
}

// is says whether the group is of these operations, which are sorted.
func (g *openGroup) is(ops []*opSurvey) bool {
	return slices.EqualFunc(g.Ops, ops, func(o GroupOp, s *opSurvey) bool { return o.id() == s.opID })
}

// bounded says whether the segments so far are as few as a second pass would
// allow: a row from another century must not cost the memory for all between.
func (p *onePass) bounded(g *openGroup) bool {
	segment, err := segmentFor(distance(g.Start, g.until), p.options.SegmentDur)
	return err == nil && (p.options.SegmentDur > 0 || slices.Contains(ladder, segment))
}

// numberNames notes the groups by the numbers that the operations have in held.
func (p *onePass) numberNames() {
	p.byName = p.byName[:0]
	for _, id := range p.names.op.keys {
		at := slices.IndexFunc(p.opened, func(g *openGroup) bool {
			return slices.ContainsFunc(g.Ops, func(o GroupOp) bool { return o.id() == id })
		})
		if at < 0 {
			p.byName = append(p.byName, nil)
		} else {
			p.byName = append(p.byName, p.opened[at])
		}
	}
}

// release counts the requests that are certain. One that was due at the end of
// the window or after it was not due in it, so that has to be certain as well.
func (p *onePass) release() {
	kept := p.held[:0]
	var r oplog.Record
	for i := range p.held {
		h := &p.held[i]
		g := p.byName[h.op]
		if g == nil || addSat(h.start, int64(max(h.duration, 0))) > g.until || h.due != 0 && h.due >= g.until {
			kept = append(kept, *h)
			continue
		}
		p.text -= h.text()
		p.names.restore(h, &r)
		p.filter.add(&r)
	}
	clear(p.held[len(kept):])
	p.held = kept
}

// finish says whether all was as it was believed to be. If so, it makes the
// summary the one of the plan and counts the rest.
func (p *onePass) finish(plan *Plan) bool {
	if p.gaveUp {
		return false
	}
	s := p.filter.summary
	early := s.ops
	s.plan, s.ops = plan, NewSummary(plan, p.options).ops
	for _, g := range p.opened {
		at := slices.IndexFunc(plan.Groups, func(f Group) bool { return sameOps(f.Ops, g.Ops) })
		if at < 0 || !g.close(&plan.Groups[at], early) {
			return false
		}
	}
	for i, op := range s.ops {
		at := slices.IndexFunc(early, func(e *opSummary) bool { return e.opID == op.opID })
		if at >= 0 {
			early[at].group = op.group
			s.ops[i] = early[at]
		}
	}
	var r oplog.Record
	for i := range p.held {
		p.names.restore(&p.held[i], &r)
		p.filter.add(&r)
	}
	p.held = nil
	return true
}

// close gives the series of a group the end that its window turned out to have.
func (g *openGroup) close(final *Group, ops []*opSummary) bool {
	if final.Basis != Active || final.Start != g.Start || final.End < g.until ||
		(final.Clients <= 1) != (g.Clients <= 1) {
		return false
	}
	for _, op := range ops {
		if op.group != &g.Group {
			continue
		}
		for _, h := range op.hosts.vals {
			h.series.finish(final.End, int64(final.Segment))
			if h.series.dur != int64(final.Segment) {
				return false
			}
		}
	}
	return true
}
