package aggregate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/pkg/oplog"
)

// maxHeld is how many requests a Deferred keeps undecided, about 20 MB.
const maxHeld = 200_000

// A Deferred arrives at the report of a run that keeps no log. It holds
// requests back until it is certain on which side of the active window they
// fall: until every expected thread has finished a first request, and later
// until every thread has started a request after they ended. The report equals
// Analyze of the same rows as long as no more than 200,000 requests wait for
// that decision; a warning says where it was exceeded. It serves a single
// goroutine. Limit and Offset do not apply.
type Deferred struct {
	options Options
	shared  bool // the windows are those of several processes, see Joint
	bound   int  // how many requests may be held back
	every   int  // how many are worth a look at all threads
	phases  []*phase
}

// phase is one part of a run; what happens in it is one group.
type phase struct {
	threads int
	survey  Survey
	bounds  PhaseBounds // of all processes, where there are several
	filter  filter      // with the summary; nil until the window has opened
	group   Group       // open-ended until the report
	held    []held
	retry   int  // look at held again when it has that length
	forced  bool // the bound was exceeded
	shorter bool // the window is not all that it could be
	names   interner
}

// NewDeferred begins a report; the first BeginPhase must follow before any row.
func NewDeferred(o Options) *Deferred { return &Deferred{options: o, bound: maxHeld, every: 4096} }

// BeginPhase says that all following rows belong to a new part of the run,
// like the measured part after the preparation, in which that many threads
// will make requests.
func (d *Deferred) BeginPhase(threads int) {
	p := &phase{threads: threads, retry: d.every}
	p.filter.host, p.filter.op = d.options.Host, d.options.Op
	d.phases = append(d.phases, p)
}

// Write takes rows of the current phase, those of each thread in order. It
// never fails.
func (d *Deferred) Write(batch []oplog.Record) error {
	if len(d.phases) == 0 {
		d.BeginPhase(0)
	}
	p := d.phases[len(d.phases)-1]
	for i := range batch {
		p.survey.Add(&batch[i])
		p.held = append(p.held, p.names.hold(&batch[i], d.options.Verbose))
		if len(p.held) >= p.retry {
			p.decide(d)
		}
	}
	return nil
}

// decide passes on what is certain.
func (p *phase) decide(d *Deferred) {
	opens, closes, certain := p.window(d.shared)
	over := len(p.held) > d.bound
	p.forced = p.forced || over && p.filter.summary == nil
	if p.filter.summary == nil && (certain || over && !d.shared) {
		p.open(opens, d.options)
	}
	if p.filter.summary != nil {
		p.release(closes)
		if len(p.held) > d.bound {
			p.forced = true
			p.release(openEnd)
		}
	}
	p.retry = min(max(2*len(p.held), d.every), d.bound+1)
}

// window is what is known of it, and whether its begin is certain.
func (p *phase) window(shared bool) (opens, closes int64, certain bool) {
	if shared {
		return p.bounds.Opens, p.bounds.Closes, p.bounds.Open
	}
	opens, closes, seen := p.survey.activeWindow(p.survey.ops)
	return opens, closes, seen >= p.threads && closes > opens
}

// open begins the summary: from now on the window's begin is certain.
func (p *phase) open(start int64, o Options) {
	// Two clients, so that the summary tells clients apart; the survey knows
	// in the end how many there were.
	p.group = Group{Start: addSat(start, int64(max(o.Skip, 0))), End: openEnd, open: true, Segment: o.SegmentDur, Clients: 2}
	p.filter.summary = newOpenSummary(&p.group, o)
}

// release passes on all that ended by the given time.
func (p *phase) release(by int64) {
	kept := p.held[:0]
	var r oplog.Record
	for i := range p.held {
		h := &p.held[i]
		if addSat(h.start, int64(max(h.duration, 0))) > by {
			kept = append(kept, *h)
			continue
		}
		p.names.restore(h, &r)
		p.filter.add(&r)
	}
	clear(p.held[len(kept):])
	p.held = kept
}

// Report ends the run and tells the figures. It can be called once.
func (d *Deferred) Report() (*Report, error) {
	var all Survey
	for _, p := range d.phases {
		all.Merge(&p.survey)
	}
	plan, err := all.planFor(d.options)
	if err != nil {
		return nil, err
	}
	for _, p := range d.phases {
		if len(p.survey.ops) == 0 {
			continue
		}
		if err := p.finish(d.options); err != nil {
			return nil, err
		}
	}
	return reportPhases(d.phases, &all, plan, d.options)
}

// planFor is the plan for a report that may be about one operation only.
func (s *Survey) planFor(o Options) (*Plan, error) {
	if _, err := matchOp(s.Ops(), o.Op); err != nil {
		return nil, err
	}
	return s.Plan(o)
}

// reportPhases puts phases together whose windows are closed.
func reportPhases(phases []*phase, all *Survey, plan *Plan, o Options) (*Report, error) {
	phases = slices.DeleteFunc(slices.Clone(phases), func(p *phase) bool { return len(p.survey.ops) == 0 })
	whole := &Summary{plan: &Plan{Groups: make([]Group, len(phases))}, verbose: o.Verbose}
	passed, hosts := int64(0), filter{host: o.Host}
	var warnings []string
	for i, p := range phases {
		warnings = append(warnings, p.doubts(plan)...)
		whole.plan.Groups[i] = p.group
		for _, op := range p.filter.summary.ops {
			op.group = &whole.plan.Groups[i]
			whole.ops = append(whole.ops, op)
		}
		passed += p.filter.passed
		for k, name := range p.filter.hosts.keys {
			hosts.hosts.put(name, p.filter.hosts.vals[k])
		}
	}
	hosts.passed = passed
	if err := hosts.check(); err != nil {
		return nil, err
	}
	r := whole.Report(o)
	r.Runs = all.Runs()
	r.Warnings = append(r.Warnings, warnings...)
	return r, nil
}

// finish closes the window and passes on the rest.
func (p *phase) finish(o Options) error {
	ops := sorted(p.survey.ops)
	g := p.survey.group(ops)
	p.survey.setWindow(&g, ops, o.Skip)
	if p.filter.summary != nil && p.forced {
		// Not what a survey of all rows says, but what was counted.
		g.Start, g.Basis = p.group.Start, Active
		g.End = max(g.End, g.Start)
	}
	var err error
	if g.Segment, err = segmentFor(distance(g.Start, g.End), o.SegmentDur); err != nil {
		return err
	}
	p.settle(g, o)
	return nil
}

// settle gives the phase the window that it turned out to have, and counts the
// rest in it.
func (p *phase) settle(g Group, o Options) {
	p.group = g
	if opened := p.filter.summary; opened == nil {
		p.filter.summary = newOpenSummary(&p.group, o)
	} else {
		for _, op := range opened.ops {
			for _, h := range op.hosts.vals {
				h.series.finish(g.End, int64(g.Segment))
			}
		}
	}
	p.release(openEnd)
}

// doubts say where the figures are not those that Analyze would find.
func (p *phase) doubts(plan *Plan) []string {
	var names []string
	for _, op := range p.group.Ops {
		names = append(names, op.Name)
	}
	list := strings.Join(names, ", ")
	if p.forced {
		return []string{fmt.Sprintf("%s: more than %d requests had to be kept in mind at once, because a thread took very long: "+
			"the window of the figures is not exact. Keep a log for exact ones.", list, maxHeld)}
	}
	for i := range plan.Groups {
		g := &plan.Groups[i]
		if (g.Start == p.group.Start && g.End == p.group.End || p.shorter) && sameOps(g.Ops, p.group.Ops) {
			return nil
		}
	}
	return []string{list + ": these operations did not run all at the same time, or some ran in several parts of the run; " +
		"the figures are about this part as a whole."}
}

func sameOps(a, b []GroupOp) bool {
	return slices.EqualFunc(a, b, func(x, y GroupOp) bool { return x.id() == y.id() })
}

// held is a request without what a summary does not need, at half of the size.
type held struct {
	start, due                    int64
	firstByte, lastByte, duration time.Duration
	bytes                         int64
	objects                       int
	texts                         *texts // nil = none
	phases                        *oplog.Phases
	op, run, client, endpoint     uint32
	status, retries               uint16
}

// texts are what most requests have none of.
type texts struct{ key, err string }

// text is how much memory a request takes besides its own size.
func (h *held) text() int {
	if h.texts == nil {
		return 0
	}
	return len(h.texts.key) + len(h.texts.err)
}

// interner keeps names that occur in every row once, and lets go of the
// memory of the batches that they came in.
type interner struct {
	op                    keyed[opID, uint32]
	run, client, endpoint keyed[string, uint32]
}

func (n *interner) hold(r *oplog.Record, keepKey bool) held {
	h := held{
		start: r.Start, due: r.Due, firstByte: r.FirstByte, lastByte: r.LastByte, duration: r.Duration,
		bytes: r.Bytes, objects: r.Objects, status: r.Status, retries: r.Retries, phases: r.Phases,
		op: number(&n.op, idOf(r), opID.clone), run: number(&n.run, r.Run, strings.Clone),
		client: number(&n.client, r.Client, strings.Clone), endpoint: number(&n.endpoint, r.Endpoint, strings.Clone),
	}
	if r.Err != "" || keepKey {
		h.texts = &texts{err: strings.Clone(r.Err)}
	}
	if keepKey {
		h.texts.key = strings.Clone(r.Key)
	}
	return h
}

// number tells the number of a name, and keeps a clone of those that are new.
func number[K comparable](k *keyed[K, uint32], name K, clone func(K) K) uint32 {
	if i := k.get(name); i != nil {
		return *i
	}
	i := uint32(len(k.keys))
	return *k.put(clone(name), &i)
}

func (n *interner) restore(h *held, r *oplog.Record) {
	op := n.op.keys[h.op]
	*r = oplog.Record{
		Op: op.name, Statement: op.statement, Run: n.run.keys[h.run], Client: n.client.keys[h.client], Endpoint: n.endpoint.keys[h.endpoint],
		Objects: h.objects, Bytes: h.bytes, Start: h.start, Due: h.due,
		FirstByte: h.firstByte, LastByte: h.lastByte, Duration: h.duration, Status: h.status, Retries: h.retries, Phases: h.phases,
	}
	if h.texts != nil {
		r.Key, r.Err = h.texts.key, h.texts.err
	}
}
