package aggregate

import (
	"math"
	"slices"
	"strings"

	"warp/pkg/oplog"
)

// A survey is the first of two passes over a log without windows. It finds when
// each thread had finished its first request, and when the last request
// started. Failed requests count like successful ones, because the thread is
// active either way. Its memory grows with threads and operations, not with
// requests.
type survey struct {
	after int64 // ignore earlier requests
	ops   []*opSurvey
	last  int
}

// An opSurvey covers one operation.
type opSurvey struct {
	opID
	clients keyed[clientID, clientSurvey]
}

// A clientSurvey covers one client's requests of an operation.
type clientSurvey struct {
	first, last int64 // start of the first request, end of the last one
	lastStart   int64
	firstEnd    []int64 // of each thread; openEnd if it made no request
}

// openEnd is later than any request.
const openEnd = math.MaxInt64

func (s *survey) write(batch []oplog.Record) error {
	for i := range batch {
		s.add(&batch[i])
	}
	return nil
}

func (s *survey) add(r *oplog.Record) {
	start, end := r.Span()
	if start < s.after {
		return
	}
	op := s.op(idOf(r))
	c := op.clients.get(clientID{r.Run, r.Client})
	if c == nil {
		c = op.clients.put(clientID{strings.Clone(r.Run), strings.Clone(r.Client)}, &clientSurvey{first: start, last: end, lastStart: start})
	}
	c.first, c.last, c.lastStart = min(c.first, start), max(c.last, end), max(c.lastStart, start)
	n := int(min(r.Thread, maxThread))
	for n >= len(c.firstEnd) {
		c.firstEnd = append(c.firstEnd, openEnd)
	}
	c.firstEnd[n] = min(c.firstEnd[n], end)
}

// op finds an operation. Consecutive rows usually have the same operation, and
// there are few operations, so a map would not help.
func (s *survey) op(id opID) *opSurvey {
	if s.last < len(s.ops) && s.ops[s.last].opID == id {
		return s.ops[s.last]
	}
	for i, op := range s.ops {
		if op.opID == id {
			s.last = i
			return op
		}
	}
	s.last = len(s.ops)
	s.ops = append(s.ops, &opSurvey{opID: id.clone()})
	return s.ops[s.last]
}

// groups joins operations whose time ranges overlap within a run, transitively.
// Ranges that only touch do not overlap. Ranges of different runs are not
// compared: if one of two machines uploads faster, it already downloads while
// the other still uploads, and these are two phases of each machine, not one
// mixed load.
func (s *survey) groups() map[opID]*derivedGroup {
	groups := map[opID]*derivedGroup{}
	for _, ops := range joined(s.ops, func(a, b *opSurvey) bool {
		return !a.scripted() && !b.scripted() && overlapInAnyRun(a.ranges(), b.ranges())
	}) {
		g := &derivedGroup{}
		for _, op := range ops {
			g.ops = append(g.ops, op.opID)
			groups[op.opID] = g
		}
		slices.SortFunc(g.ops, opID.compare)
		g.runs = windowsOf(ops)
		common := intersect(g.runs)
		g.begin, g.end = common.Begin, common.End
	}
	return groups
}

// joined divides items into sets, each of which is connected by related pairs.
func joined[T any](all []T, related func(a, b T) bool) (sets [][]T) {
	parent := make([]int, len(all))
	root := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	for i := range all {
		parent[i] = i
		for j := range i {
			if related(all[i], all[j]) {
				parent[root(i)] = root(j)
			}
		}
	}
	index := map[int]int{}
	for i, item := range all {
		k, ok := index[root(i)]
		if !ok {
			k, sets = len(sets), append(sets, nil)
			index[root(i)] = k
		}
		sets[k] = append(sets[k], item)
	}
	return sets
}

// A timeRange is the time from the first start to the last end.
type timeRange struct{ first, last int64 }

func (t timeRange) overlaps(o timeRange) bool { return t.first < o.last && o.first < t.last }

// ranges returns the time range of the operation in each run.
func (o *opSurvey) ranges() map[string]timeRange {
	m := map[string]timeRange{}
	for i, c := range o.clients.Vals {
		t := timeRange{c.first, c.last}
		key := o.clients.Keys[i].runKey()
		if old, ok := m[key]; ok {
			t = timeRange{min(t.first, old.first), max(t.last, old.last)}
		}
		m[key] = t
	}
	return m
}

func overlapInAnyRun(a, b map[string]timeRange) bool {
	for run, x := range a {
		if y, ok := b[run]; ok && x.overlaps(y) {
			return true
		}
	}
	return false
}

// windowsOf derives the window of each run: it begins when every thread has
// finished its first request, and ends at the latest start of a request.
func windowsOf(ops []*opSurvey) []oplog.Window {
	type run struct {
		threads map[clientID][]int64
		window  oplog.Window
	}
	runs := map[string]*run{}
	for _, op := range ops {
		for i, c := range op.clients.Vals {
			id := op.clients.Keys[i]
			r := runs[id.runKey()]
			if r == nil {
				r = &run{map[clientID][]int64{}, oplog.Window{Start: c.first, End: c.lastStart}}
				runs[id.runKey()] = r
			}
			r.window.Start, r.window.End = min(r.window.Start, c.first), max(r.window.End, c.lastStart)
			r.threads[id] = earliest(r.threads[id], c.firstEnd)
		}
	}
	var all []oplog.Window
	for _, key := range sortedKeys(runs) {
		r := runs[key]
		begin := int64(math.MinInt64)
		for _, threads := range r.threads {
			for _, end := range threads {
				if end != openEnd {
					begin = max(begin, end)
				}
			}
		}
		r.window.Begin = begin
		all = append(all, r.window)
	}
	return all
}

// earliest merges by the earlier time of each thread.
func earliest(a, b []int64) []int64 {
	if len(a) < len(b) {
		a, b = slices.Clone(b), a
	}
	for i, end := range b {
		a[i] = min(a[i], end)
	}
	return a
}
