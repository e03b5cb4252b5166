package aggregate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"warp/pkg/oplog"
)

// A Plan says what the second pass measures: the groups of operations and
// their windows.
type Plan struct{ Groups []Group }

// A Group is a set of operations that ran at the same time.
type Group struct {
	Ops []GroupOp // sorted by name; one only where it is of a statement

	Start, End int64         // the active window in unix ns; empty where Basis is NoWindow
	Segment    time.Duration // length of the segments that the window is cut into
	Basis      Basis
	open       bool // the end is not known yet

	Runs, Clients, Threads int
	Client                 client // one of them; the only one where there is one
	Requests               uint64
	First, Last            int64 // begin of the first request, end of the last one
}

// A GroupOp is one operation of a group.
type GroupOp struct {
	Name        string
	Statement   oplog.Statement // of a script
	Requests    uint64
	First, Last int64 // begin of the first request, end of the last one
}

func (o *GroupOp) id() opID { return opID{o.Name, o.Statement} }

// A Basis is what a window rests on.
type Basis int

const (
	// Active is the regular case: all threads are at work in the window.
	Active Basis = iota
	// WarmUp is the whole of a run that was too short for an active window.
	WarmUp
	// NoWindow is the case where there is no time to measure in: several runs
	// that do not overlap, or everything was skipped.
	NoWindow
	// WholeStatement is all of a statement of a script. Its warm-up has a window
	// of its own, and its threads come as they are needed: that each of them has
	// finished a first request means nothing.
	WholeStatement
)

// Seconds is the length of the window.
func (g *Group) Seconds() float64 { return float64(distance(g.Start, g.End)) / 1e9 }

const (
	defaultSegments = 400     // at most that many, where the user does not choose
	maxSegments     = 1 << 20 // what a person may ask for; 56 bytes each per host
)

// ladder holds the lengths that segments take by themselves. Each divides the
// next, so that segments of a run whose length is not known in advance can be
// joined while it lasts.
var ladder = []time.Duration{
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// segmentFor picks the length of segments for a window of the given length.
func segmentFor(window int64, asked time.Duration) (time.Duration, error) {
	if asked < 0 {
		return 0, fmt.Errorf("segments of %v: the duration must be positive", asked)
	}
	if asked > 0 {
		if window/int64(asked) >= 1e6 {
			return 0, fmt.Errorf("segments of %v cut %v into more than a million: choose %v or longer",
				asked, time.Duration(window).Round(time.Second), time.Duration(window/1e6+1))
		}
		return asked, nil
	}
	for _, d := range ladder {
		if window <= defaultSegments*int64(d) {
			return d, nil
		}
	}
	// Years: only broken clocks get here.
	day := int64(24 * time.Hour)
	return time.Duration((window/defaultSegments/day + 1) * day), nil
}

// Plan draws up groups, windows and segments from what was seen.
func (s *Survey) Plan(o Options) (*Plan, error) {
	p := &Plan{}
	for _, ops := range s.groups() {
		g := s.group(ops)
		s.setWindow(&g, ops, o.Skip)
		var err error
		if g.Segment, err = segmentFor(distance(g.Start, g.End), o.SegmentDur); err != nil {
			return nil, err
		}
		p.Groups = append(p.Groups, g)
	}
	slices.SortFunc(p.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last),
			a.Ops[0].id().compare(b.Ops[0].id()))
	})
	return p, nil
}

// groups puts operations together whose time ranges overlap within a run,
// transitively; to touch at one instant is not to overlap. Between runs time
// does not decide: where two machines upload at slightly different speed, one
// of them downloads already while the other still uploads, and these are two
// phases of each, not one mixed load.
func (s *Survey) groups() [][]*opSurvey {
	parent := make([]int, len(s.ops))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	seen := make([]map[string]timeRange, len(s.ops))
	for i, op := range s.ops {
		seen[i] = s.ranges(op)
		for j := range i {
			if !op.scripted() && !s.ops[j].scripted() && overlapInAnyRun(seen[i], seen[j]) {
				parent[root(i)] = root(j)
			}
		}
	}
	byRoot := map[int][]*opSurvey{}
	for i, op := range s.ops {
		byRoot[root(i)] = append(byRoot[root(i)], op)
	}
	groups := make([][]*opSurvey, 0, len(byRoot))
	for _, ops := range byRoot {
		groups = append(groups, sorted(ops))
	}
	return groups
}

func overlapInAnyRun(a, b map[string]timeRange) bool {
	for run, x := range a {
		if y, ok := b[run]; ok && x.first < y.last && y.first < x.last {
			return true
		}
	}
	return false
}

// group fills in all but the window.
func (s *Survey) group(ops []*opSurvey) Group {
	var g Group
	runs, clients := map[string]bool{}, map[int]bool{}
	for k, op := range ops {
		o := GroupOp{Name: op.name, Statement: op.statement, Requests: op.requests}
		n := 0
		for _, t := range s.ranges(op) {
			if n++; n == 1 {
				o.First, o.Last = t.first, t.last
			}
			o.First, o.Last = min(o.First, t.first), max(o.Last, t.last)
		}
		for i := range op.clients {
			op.clients[i].each(func(uint32, *activity) {
				runs[s.clients[i].runKey()], clients[i] = true, true
				g.Client = s.clients[i]
			})
		}
		if k == 0 {
			g.First, g.Last = o.First, o.Last
		}
		g.First, g.Last = min(g.First, o.First), max(g.Last, o.Last)
		g.Requests += o.Requests
		g.Ops = append(g.Ops, o)
	}
	g.Runs, g.Clients = len(runs), len(clients)
	return g
}

// setWindow decides on the time that is measured. Where threads made too few
// requests for an active window, the whole time is taken in which all runs
// were at work, and the report says so.
func (s *Survey) setWindow(g *Group, ops []*opSurvey, skip time.Duration) {
	g.Start, g.End, g.Threads = s.activeWindow(ops)
	switch {
	case ops[0].scripted():
		g.Basis = WholeStatement
		g.Start, g.End = s.commonTime(ops)
	case g.End <= g.Start:
		g.Basis = WarmUp
		g.Start, g.End = s.commonTime(ops)
	}
	if skip > 0 {
		g.Start = addSat(g.Start, int64(skip))
	}
	// A single run of one instant keeps its (empty) window: its latencies are
	// known although it has no throughput.
	if g.End < g.Start || g.End == g.Start && (g.Runs > 1 || skip > 0) {
		g.Basis = NoWindow
		g.End = g.Start
	}
}

// commonTime is the time in which all runs of the group were at work.
func (s *Survey) commonTime(ops []*opSurvey) (start, end int64) {
	perRun := map[string]timeRange{}
	for _, op := range ops {
		for run, t := range s.ranges(op) {
			if old, ok := perRun[run]; ok {
				t = t.join(old)
			}
			perRun[run] = t
		}
	}
	n := 0
	for _, t := range perRun {
		if n++; n == 1 {
			start, end = t.first, t.last
		}
		start, end = max(start, t.first), min(end, t.last)
	}
	return start, end
}
