package aggregate

import (
	"math"
	"slices"
	"strings"

	"warp/pkg/oplog"
)

// maxDense is the highest thread number that is kept in a slice. Real runs
// stay far below; a nonsense number must not allocate gigabytes.
const maxDense = 1 << 14

// A Survey is the first of the two passes: it learns when each thread did
// what, which is all that the active windows depend on. Failed requests count
// like successful ones, for a thread is active either way. It needs memory for
// every thread and operation, not for every request. The zero value is ready.
type Survey struct {
	ops     []*opSurvey
	clients []client
	index   map[client]int // into clients
	lastOp  int
	lastC   int
}

// A client is one process of one run. Rows of other tools have no run id;
// there the client id alone tells runs apart.
type client struct{ run, id string }

// runKey is the identity of the run that the client belongs to.
func (c client) runKey() string {
	if c.run != "" {
		return "run " + c.run
	}
	return "client " + c.id
}

type opSurvey struct {
	opID
	requests uint64
	clients  []threads // by index into Survey.clients
}

// threads are those of one client that performed one operation.
type threads struct {
	dense []activity
	other map[uint32]*activity
}

// An activity is what one thread did: n requests, the first of which ended at
// firstEnd and the last of which began at lastStart.
type activity struct {
	n                   uint64
	firstStart, lastEnd int64
	firstEnd, lastStart int64
}

func (a *activity) add(b activity) {
	if a.n == 0 {
		*a = b
		return
	}
	a.n += b.n
	a.firstStart = min(a.firstStart, b.firstStart)
	a.firstEnd = min(a.firstEnd, b.firstEnd)
	a.lastStart = max(a.lastStart, b.lastStart)
	a.lastEnd = max(a.lastEnd, b.lastEnd)
}

// Add takes note of one request.
func (s *Survey) Add(r *oplog.Record) {
	op := s.op(idOf(r))
	start, end := span(r)
	op.requests++
	a := op.at(s.client(r.Run, r.Client)).thread(r.Thread)
	if a.n == 0 {
		*a = activity{1, start, end, end, start}
		return
	}
	a.n++
	a.firstStart = min(a.firstStart, start)
	a.firstEnd = min(a.firstEnd, end)
	a.lastStart = max(a.lastStart, start)
	a.lastEnd = max(a.lastEnd, end)
}

// op finds an operation. Rows of one operation tend to follow each
// other, and there are few operations: no map is needed.
func (s *Survey) op(id opID) *opSurvey {
	if s.lastOp < len(s.ops) && s.ops[s.lastOp].opID == id {
		return s.ops[s.lastOp]
	}
	for i, op := range s.ops {
		if op.opID == id {
			s.lastOp = i
			return op
		}
	}
	s.lastOp = len(s.ops)
	s.ops = append(s.ops, &opSurvey{opID: id.clone()})
	return s.ops[s.lastOp]
}

func (s *Survey) client(run, id string) int {
	if s.lastC < len(s.clients) {
		if c := &s.clients[s.lastC]; c.id == id && c.run == run {
			return s.lastC
		}
	}
	c, ok := s.index[client{run, id}]
	if !ok {
		if s.index == nil {
			s.index = map[client]int{}
		}
		c = len(s.clients)
		s.clients = append(s.clients, client{strings.Clone(run), strings.Clone(id)})
		s.index[s.clients[c]] = c
	}
	s.lastC = c
	return s.lastC
}

func (o *opSurvey) at(client int) *threads {
	for client >= len(o.clients) {
		o.clients = append(o.clients, threads{})
	}
	return &o.clients[client]
}

func (t *threads) thread(n uint32) *activity {
	if int(n) < len(t.dense) {
		return &t.dense[n]
	}
	if n < maxDense {
		t.dense = append(t.dense, make([]activity, int(n)+1-len(t.dense))...)
		return &t.dense[n]
	}
	if t.other == nil {
		t.other = map[uint32]*activity{}
	}
	if t.other[n] == nil {
		t.other[n] = new(activity)
	}
	return t.other[n]
}

// each calls f for every thread that did anything, in no particular order.
func (t *threads) each(f func(n uint32, a *activity)) {
	for i := range t.dense {
		if t.dense[i].n > 0 {
			f(uint32(i), &t.dense[i])
		}
	}
	for n, a := range t.other {
		f(n, a)
	}
}

// Merge adds what o saw. It leaves o as it is.
func (s *Survey) Merge(o *Survey) {
	for _, theirs := range o.ops {
		op := s.op(theirs.opID)
		op.requests += theirs.requests
		for i := range theirs.clients {
			mine := op.at(s.client(o.clients[i].run, o.clients[i].id))
			theirs.clients[i].each(func(n uint32, a *activity) { mine.thread(n).add(*a) })
		}
	}
}

// Ops lists the names of the operations seen, sorted.
func (s *Survey) Ops() []string {
	names := make([]string, len(s.ops))
	for i, op := range s.ops {
		names[i] = op.name
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sorted lists operations by name.
func sorted(ops []*opSurvey) []*opSurvey {
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b *opSurvey) int { return a.compare(b.opID) })
	return ops
}

// Runs lists the run ids seen, sorted; rows without one are not listed.
func (s *Survey) Runs() []string {
	var runs []string
	for _, c := range s.clients {
		if c.run != "" {
			runs = append(runs, c.run)
		}
	}
	slices.Sort(runs)
	return slices.Compact(runs)
}

// timeRange is when something began and ended.
type timeRange struct{ first, last int64 }

func (t timeRange) join(o timeRange) timeRange {
	return timeRange{min(t.first, o.first), max(t.last, o.last)}
}

// ranges tells for each run when it performed the operation.
func (s *Survey) ranges(op *opSurvey) map[string]timeRange {
	m := map[string]timeRange{}
	for i := range op.clients {
		key := s.clients[i].runKey()
		op.clients[i].each(func(_ uint32, a *activity) {
			t := timeRange{a.firstStart, a.lastEnd}
			if old, ok := m[key]; ok {
				t = t.join(old)
			}
			m[key] = t
		})
	}
	return m
}

// activeWindow is the time between the moment when every thread has finished a
// first request and the moment when the first of them starts its last one.
func (s *Survey) activeWindow(ops []*opSurvey) (start, end int64, threadCount int) {
	start, end = math.MinInt64, math.MaxInt64
	for _, t := range s.groupThreads(ops) {
		t.each(func(_ uint32, a *activity) {
			start, end = max(start, a.firstEnd), min(end, a.lastStart)
			threadCount++
		})
	}
	return start, end, threadCount
}

// groupThreads joins what each thread did in any of the operations.
func (s *Survey) groupThreads(ops []*opSurvey) []threads {
	if len(ops) == 1 {
		return ops[0].clients
	}
	all := make([]threads, len(s.clients))
	for _, op := range ops {
		for i := range op.clients {
			op.clients[i].each(func(n uint32, a *activity) { all[i].thread(n).add(*a) })
		}
	}
	return all
}
