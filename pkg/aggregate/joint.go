package aggregate

import (
	"errors"
	"fmt"
	"math"

	"warp/internal/wire"
)

// A Joint arrives at one report of a run on several processes that keep no log.
// Each has a Deferred, and none knows the window of all: so while the run lasts
// they tell what they know of theirs (Digest), and are told what follows for all
// (Look, Bound). After it they learn the windows of all (Close, Finish), and send
// what lay in them, which is added up (Add).
type Joint struct {
	options Options
	phases  []*phase
}

// NewJoint begins a report.
func NewJoint(o Options) *Joint { return &Joint{options: o} }

// NewShared begins the part of a report that one of several processes has.
func NewShared(o Options) *Deferred {
	d := NewDeferred(o)
	d.shared = true
	return d
}

// A PhaseDigest is what one process knows of one part of its run: of all that a
// survey knows, no more than windows depend on.
type PhaseDigest struct {
	Threads int        `json:"threads"`
	Ready   bool       `json:"ready,omitempty"`  // every thread that is expected has finished a request
	Forced  bool       `json:"forced,omitempty"` // it cannot wait any longer for the window to open
	Opens   int64      `json:"opens"`            // when the last thread had finished its first request
	Closes  int64      `json:"closes"`           // when the first thread started its last one so far
	Ops     []OpDigest `json:"ops,omitempty"`
}

// An OpDigest is one operation of a PhaseDigest.
type OpDigest struct {
	Name     string `json:"name"`
	Requests uint64 `json:"requests"`
	First    int64  `json:"first"` // begin of the first request
	Last     int64  `json:"last"`  // end of the last one
}

// A ClientDigest is what one process knows, and who it is.
type ClientDigest struct {
	Run, Client string
	Phases      []PhaseDigest
}

// PhaseBounds are what is certain of a window.
type PhaseBounds struct {
	Open   bool  `json:"open,omitempty"` // it is certain when it opens
	Opens  int64 `json:"opens,omitempty"`
	Closes int64 `json:"closes,omitempty"` // it does not close before
}

// Digest tells what is known of each phase.
func (d *Deferred) Digest() []PhaseDigest {
	var all []PhaseDigest
	for _, p := range d.phases {
		g := PhaseDigest{Forced: p.forced}
		g.Opens, g.Closes, g.Threads = p.survey.activeWindow(p.survey.ops)
		g.Ready = g.Threads > 0 && g.Threads >= p.threads
		for _, op := range p.survey.ops {
			o := OpDigest{Name: op.name, Requests: op.requests}
			for _, t := range p.survey.ranges(op) {
				o.First, o.Last = t.first, t.last // of one process, and so of one run
			}
			g.Ops = append(g.Ops, o)
		}
		all = append(all, g)
	}
	return all
}

// Bound takes note of what is certain for all processes.
func (d *Deferred) Bound(all []PhaseBounds) {
	for i, p := range d.phases {
		if i < len(all) {
			p.bounds = all[i]
			p.decide(d)
		}
	}
}

// Limits of what a hostile digest can cost.
const (
	maxPhases  = 8
	maxThreads = 1 << 17
)

// CheckDigest refuses what no Digest says.
func CheckDigest(all []PhaseDigest) error {
	if len(all) > maxPhases {
		return fmt.Errorf("a run of %d phases", len(all))
	}
	for i := range all {
		g := &all[i]
		if g.Threads < 0 || g.Threads > maxThreads || len(g.Ops) > maxLiveOps || g.Threads == 0 && len(g.Ops) > 0 {
			return fmt.Errorf("a phase of %d threads and %d operations", g.Threads, len(g.Ops))
		}
		for _, op := range g.Ops {
			if len(op.Name) > maxLiveName || op.First > op.Last {
				return errors.New("an operation that cannot be")
			}
		}
	}
	return nil
}

// Look says what follows for all from what each of them knows.
func (j *Joint) Look(clients []ClientDigest) []PhaseBounds {
	var all []PhaseBounds
	for i := range phasesOf(clients) {
		opens, closes, ready, forced := int64(math.MinInt64), int64(math.MaxInt64), true, false
		for _, c := range clients {
			if i >= len(c.Phases) {
				ready = false
				continue
			}
			g := &c.Phases[i]
			ready, forced = ready && g.Ready, forced || g.Forced
			if g.Threads > 0 {
				opens, closes = max(opens, g.Opens), min(closes, g.Closes)
			}
		}
		p := j.phase(i)
		if !p.bounds.Open && (ready && closes > opens || forced) {
			p.bounds.Open, p.bounds.Opens, p.forced = true, opens, forced
		}
		p.bounds.Closes = closes
		all = append(all, p.bounds)
	}
	return all
}

func phasesOf(clients []ClientDigest) (n int) {
	for _, c := range clients {
		n = max(n, len(c.Phases))
	}
	return n
}

func (j *Joint) phase(i int) *phase {
	for len(j.phases) <= i {
		j.phases = append(j.phases, &phase{})
	}
	return j.phases[i]
}

// Close says which windows all have had, from what each knows at its end.
func (j *Joint) Close(clients []ClientDigest) ([]Group, error) {
	var all []Group
	for i := range phasesOf(clients) {
		p := j.phase(i)
		if err := p.close(p.learn(clients, i), j.options); err != nil {
			return nil, err
		}
		all = append(all, p.group)
	}
	return all, nil
}

// learn surveys phase i of all, and counts their threads.
func (p *phase) learn(clients []ClientDigest, i int) (threads int) {
	p.survey = Survey{}
	for _, c := range clients {
		if i < len(c.Phases) {
			p.survey.Merge(c.Phases[i].survey(c.Run, c.Client))
			threads += c.Phases[i].Threads
			p.forced = p.forced || c.Phases[i].Forced
		}
	}
	return threads
}

// leave takes those out of a closed phase that are not among the clients any
// more. The window stays: all that are left were at work in it.
func (p *phase) leave(clients []ClientDigest, i int) {
	before := p.group
	threads := p.learn(clients, i)
	if len(p.survey.ops) == 0 {
		return
	}
	g := p.survey.group(sorted(p.survey.ops))
	p.shorter = p.shorter || g.Clients < before.Clients
	g.Start, g.End, g.Segment, g.Basis, g.Threads = before.Start, before.End, before.Segment, before.Basis, threads
	p.group = g
}

// survey is one that has the same windows as that of the digest, of one thread.
func (g *PhaseDigest) survey(run, id string) *Survey {
	s := &Survey{}
	c := s.client(run, id)
	for _, o := range g.Ops {
		op := s.op(opID{name: o.Name})
		op.requests = o.Requests
		*op.at(c).thread(0) = activity{max(o.Requests, 1), o.First, o.Last, g.Opens, g.Closes}
	}
	return s
}

// close finds the window of a phase from its survey.
func (p *phase) close(threads int, o Options) error {
	p.filter.summary = newOpenSummary(&p.group, o)
	ops := sorted(p.survey.ops)
	if len(ops) == 0 {
		return nil
	}
	g := p.survey.group(ops)
	p.survey.setWindow(&g, ops, o.Skip)
	g.Threads = threads
	if opens, _, _ := p.survey.activeWindow(ops); p.bounds.Open && opens != p.bounds.Opens {
		// What was counted began at another time. Where those that were waited for are gone now, that is later than it
		// could have been; all the others were at work.
		p.shorter = opens < p.bounds.Opens
		p.forced = p.forced || !p.shorter
		g.Start, g.Basis = addSat(p.bounds.Opens, int64(max(o.Skip, 0))), Active
		g.End = max(g.End, g.Start)
	}
	var err error
	g.Segment, err = segmentFor(distance(g.Start, g.End), o.SegmentDur)
	p.group = g
	return err
}

// Finish ends the part of one process: it counts the rest in the windows that
// all have had, and writes what Joint.Add reads.
func (d *Deferred) Finish(windows []Group) ([]byte, error) {
	if len(windows) < len(d.phases) {
		return nil, fmt.Errorf("this run has %d phases, and that of all %d", len(d.phases), len(windows))
	}
	var b []byte
	for i, p := range d.phases {
		w := &windows[i] // whose segments may be anybody's
		if _, err := segmentFor(distance(w.Start, w.End), max(w.Segment, 1)); err != nil {
			return nil, fmt.Errorf("the windows of all: %w", err)
		}
		if p.filter.summary != nil && p.group.Start != w.Start {
			return nil, errors.New("the window of all began at another time than was said")
		}
		p.settle(*w, d.options)
		b = p.append(b)
	}
	return b, nil
}

// Add adds what the Finish of a process has written.
func (j *Joint) Add(b []byte) error {
	r := &wireReader{wire.NewReader(b), maxSummaryPages}
	var parts []*phase
	for _, p := range j.phases {
		if r.Left() == 0 && !r.Bad {
			break // it had fewer phases
		}
		parts = append(parts, r.phase(&p.group))
	}
	if r.Bad || r.Left() > 0 {
		return errors.New("the figures of a client cannot be read")
	}
	for i, part := range parts {
		j.phases[i].add(part)
	}
	return nil
}

func (p *phase) add(o *phase) {
	for _, op := range o.filter.summary.ops {
		p.filter.summary.op(op.opID).merge(op)
	}
	p.filter.passed += o.filter.passed
	for i, name := range o.filter.hosts.keys {
		if p.filter.hosts.get(name) == nil {
			p.filter.hosts.put(name, o.filter.hosts.vals[i])
		}
	}
}

// Report tells the figures of the clients, which are those whose parts were
// added. It can be called once.
func (j *Joint) Report(clients []ClientDigest) (*Report, error) {
	var all Survey
	for i, p := range j.phases {
		p.leave(clients, i)
		all.Merge(&p.survey)
	}
	plan, err := all.planFor(j.options)
	if err != nil {
		return nil, err
	}
	return reportPhases(j.phases, &all, plan, j.options)
}
