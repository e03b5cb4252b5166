package find

import (
	"container/heap"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/assert"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// A simulation is a store with several servers and one queue.
type simulation struct {
	t       *testing.T
	servers int
	service func(r *rand.Rand, at float64) float64 // s, at a time of the simulation
	even    bool                                   // arrivals
	assert  *assert.Assertion
	client  string // says that this machine is the limit

	// before is called with each load; it may change the store.
	before func(s *simulation, l Load)

	random   *rand.Rand
	now      float64
	timeline results.Timeline // of the step
	busy     bool
	steps    int
}

func (s *simulation) clock() time.Time { return time.Unix(0, int64(s.now*1e9)) }

type times []float64

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(float64)) }
func (t *times) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	*t = (*t)[:last]
	return x
}

// warm is how long a load is offered before the window begins.
const warm = 1

func (s *simulation) Step(_ context.Context, l Load, length time.Duration, more bool) (Observation, error) {
	if s.before != nil && !more {
		s.before(s, l)
	}
	if !more {
		s.timeline = results.Timeline{Slices: map[time.Duration][]results.Slice{}}
		s.busy = false
	}
	s.steps++
	pieces := make([]results.Slice, int(length/Piece))
	for i := range pieces {
		pieces[i].Seconds = Piece.Seconds()
	}
	begin, end := s.now+warm, s.now+warm+length.Seconds()
	at := func(t float64) *results.Slice {
		if t < begin || t >= end {
			return nil
		}
		return &pieces[min(int((t-begin)/Piece.Seconds()), len(pieces)-1)]
	}
	var free times // when each server is free
	for range s.servers {
		free = append(free, s.now)
	}
	var ends []float64
	for due := s.now; due < end; due += s.gap(l.Value) {
		from := max(free[0], due)
		done := from + s.service(s.random, from)
		free[0] = done
		heap.Fix(&free, 0)
		sent := due
		if l.Workers > 0 && len(ends) >= l.Workers { // waits for a worker
			if sent = max(due, ends[len(ends)-l.Workers]); sent > due && due >= begin {
				s.busy = true
			}
		}
		ends = append(ends, done)
		if p := at(due); p != nil {
			p.Inside++
			p.Latency.Add(time.Duration((done - sent) * 1e9))
			p.Response.Add(time.Duration((done - due) * 1e9))
		}
		if p := at(done); p != nil {
			p.Ended++
			p.Objects++
		}
	}
	s.now = end
	whole := &s.timeline.Whole
	for i := range pieces {
		whole.Add(&pieces[i])
		whole.Seconds += pieces[i].Seconds
	}
	s.timeline.Slices[Piece] = append(s.timeline.Slices[Piece], pieces...)
	o := Observe([]*assert.Assertion{s.assert}, nil, &s.timeline, func(*assert.Assertion) *results.Timeline { return &s.timeline }, 0, true)
	o.Busy, o.Client = s.busy, s.client
	return o, nil
}

func (s *simulation) gap(rate float64) float64 {
	if s.even {
		return 1 / rate
	}
	return s.random.ExpFloat64() / rate
}

func exponential(mean float64) func(*rand.Rand, float64) float64 {
	return func(r *rand.Rand, _ float64) float64 { return r.ExpFloat64() * mean }
}

func fixed(seconds float64) func(*rand.Rand, float64) float64 {
	return func(*rand.Rand, float64) float64 { return seconds }
}

// search runs a search on a simulation.
func (s *simulation) search(t *testing.T, text string, seed uint64, adjust func(*Options)) *Result {
	t.Helper()
	var err error
	if s.assert, err = assert.Parse(text, []string{"GET"}); err != nil {
		t.Fatal(err)
	}
	s.t, s.random = t, rand.New(rand.NewPCG(seed, 1))
	o := Options{Start: 100, Resolution: .05, MaxStep: 2 * time.Minute, Hold: time.Minute, MaxTime: time.Hour, Workers: 1000, MaxWorkers: 100_000,
		Requests: s.assert.Requests(), Now: s.clock}
	if adjust != nil {
		adjust(&o)
	}
	r, err := Run(context.Background(), s, o)
	check.OK(t, err)
	return r
}

func log(t *testing.T, r *Result) {
	t.Helper()
	for _, st := range r.Steps {
		t.Logf("%6.1f/s %-10s %4.0f s %-6s passes %v repeat %v workers %d: %s", st.Value, st.Role, st.Seconds, st.Outcome, st.Passes, st.Repeat, st.Load.Workers, st.Why)
	}
	t.Logf("%s %s: %.1f from %.1f to %.1f in %.0f s, %v", r.Status, r.Sentence, r.Estimate, r.Held, r.Failed, r.Seconds, r.Notes)
}

// near reports whether the search has found the theoretical rate.
func near(r *Result, want float64) bool {
	return r.Status == Found && math.Abs(r.Estimate/want-1) <= .05 && (r.Failed == 0 || r.Held <= r.Failed)
}

// The theory: the highest rate of one exponential server with p99 below t is μ - ln(100)/t; for eight servers it is from the
// Erlang C formula.
func TestFindsTheTheoreticalRate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		servers int
		mean    float64
		assert  string
		want    float64
	}{
		{"one server", 1, .001, "response.p99<20ms", 769.7},
		{"eight servers", 8, .008, "response.p99<50ms", 876.8},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			good := 0
			for seed := range uint64(searches) {
				s := &simulation{servers: test.servers, service: exponential(test.mean)}
				r := s.search(t, test.assert, seed, nil)
				if near(r, test.want) {
					good++
				} else {
					log(t, r)
				}
			}
			if good < (searches*9+9)/10 {
				t.Errorf("%d of %d searches ended within 5 %% of %g/s", good, searches, test.want)
			}
		})
	}
}

// With a fixed service time and even arrivals, everything up to the capacity holds, and nothing above it.
func TestFixedServiceTime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		servers int
		mean    float64
	}{{1, .001}, {8, .01}, {3, .004}} {
		s := &simulation{servers: test.servers, service: fixed(test.mean), even: true}
		r := s.search(t, "response.p99<50ms", 1, nil)
		if want := float64(test.servers) / test.mean; !near(r, want) || r.Held > want*1.0001 || r.Seconds > 360 {
			log(t, r)
			t.Errorf("%d servers: found %.1f/s, want %.1f", test.servers, r.Estimate, want)
		}
	}
}

// A store whose capacity halves for half a minute during the search is found out: the rate that failed meanwhile holds later.
func TestCapacityThatHalvesForAWhile(t *testing.T) {
	t.Parallel()
	dips := 0
	for from := 35.; from < 95; from += 20 {
		s := &simulation{servers: 1, even: true, service: func(_ *rand.Rand, at float64) float64 {
			if at >= from && at < from+30 {
				return .002
			}
			return .001
		}}
		r := s.search(t, "response.p99<50ms", 1, nil)
		if !near(r, 1000) {
			log(t, r)
			t.Errorf("halved from %.0f s on: found %.1f/s (%s), want 1000", from, r.Estimate, r.Status)
		}
		for _, note := range r.Notes {
			if strings.Contains(note, "the store has changed") {
				dips++
			}
		}
	}
	if dips == 0 {
		t.Error("no search noticed that the store has changed")
	}
}

// A store that is slow for a while after an overload holds the rate from below only.
func TestHysteresis(t *testing.T) {
	t.Parallel()
	s := &simulation{servers: 1, even: true}
	slow := false
	s.before = func(_ *simulation, l Load) {
		switch {
		case l.Value > 1000:
			slow = true
		case l.Value < 600:
			slow = false
		}
	}
	s.service = func(*rand.Rand, float64) float64 {
		if slow {
			return .0016 // 625/s
		}
		return .001
	}
	r := s.search(t, "response.p99<50ms", 1, nil)
	if r.Status != Hysteresis || !strings.Contains(r.Sentence, "after a lower load, and not after a higher one") {
		log(t, r)
		t.Errorf("%s: %s", r.Status, r.Sentence)
	}
}

// The search says what else was the limit, or that there is no result.
func TestOtherEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		s      simulation
		adjust func(*Options)
		status string
		want   string
	}{
		"not even the first rate": {simulation{servers: 1, service: fixed(.02), even: true}, nil, None, "the assertions do not all hold even at 100 requests/s: "},
		"this machine":            {simulation{servers: 1, service: fixed(.001), even: true, client: "this machine was busy."}, nil, Limited, "at 1,600 requests/s, this machine was busy"},
		"too few workers":         {simulation{servers: 1000, service: fixed(.01), even: true}, func(o *Options) { o.Workers, o.MaxWorkers = 8, 50 }, Limited, "all 50 workers that --max-concurrent allows were busy"},
		"no time":                 {simulation{servers: 1, service: exponential(.001)}, func(o *Options) { o.MaxTime = 80 * time.Second }, Undecided, "--max-time=1m20s has passed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(name, "workers") {
				limitByWorkers(&test.s)
			}
			r := test.s.search(t, "response.p99<50ms", 1, test.adjust)
			if r.Status != test.status || !strings.Contains(r.Sentence, test.want) {
				log(t, r)
				t.Errorf("%s: %q, want %s with %q", r.Status, r.Sentence, test.status, test.want)
			}
		})
	}
}

// limitByWorkers makes the number of servers equal to the number of workers: a store that answers any number of requests at once.
func limitByWorkers(s *simulation) {
	s.before = func(s *simulation, l Load) { s.servers = l.Workers }
}

// Workers are added as long as they help.
func TestWorkersDouble(t *testing.T) {
	t.Parallel()
	// 50 servers of 100/s each need 50 workers.
	s := &simulation{service: fixed(.01), even: true}
	s.before = func(s *simulation, l Load) { s.servers = min(l.Workers, 50) }
	r := s.search(t, "response.p99<50ms", 1, func(o *Options) { o.Workers, o.MaxWorkers = 4, 1024 })
	if !near(r, 5000) || r.Workers < 50 || r.Workers > 128 {
		log(t, r)
		t.Errorf("found %.1f/s with %d workers, want 5000", r.Estimate, r.Workers)
	}
}

// A backlog that grows slowly is a failure, and one that comes and goes is none.
// A store keeps up although some requests are in flight at the end of a step, more than on average.
func TestBehind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		due, answered, inFlight float64
		behind                  bool
	}{
		{200, 196, .2, false},   // a pause of this machine
		{100, 96, 1, false},     // a chance of Poisson arrivals
		{2000, 1960, 20, false}, // slow requests
		{200, 190, .2, true},
		{2000, 1940, 20, true},
		{10000, 9950, 1, false}, // 99 % is enough
		{0, 0, 4, false},        // a closed loop
	} {
		o := Observation{Due: c.due, Answered: c.answered, InFlight: c.inFlight}
		if why := o.behind(); (why != "") != c.behind {
			t.Errorf("%+v: %q", c, why)
		}
	}
}

func TestGrowing(t *testing.T) {
	t.Parallel()
	pieces := func(ended func(i int) uint64) (all []results.Slice) {
		for i := range 200 {
			all = append(all, results.Slice{Inside: 1000, Ended: ended(i), Times: stats.Times{}})
		}
		return all
	}
	for name, test := range map[string]struct {
		ended func(int) uint64
		want  bool
	}{
		"one in a hundred is late": {func(int) uint64 { return 990 }, true},
		"all are answered":         {func(int) uint64 { return 1000 }, false},
		"a wave":                   {func(i int) uint64 { return uint64(1000 + 300*math.Sin(float64(i)/5)) }, false},
		"a stall at the start":     {func(i int) uint64 { return 1000 - uint64(max(0, 500-50*i)) }, false},
	} {
		if got := growing(pieces(test.ended), 5); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A search that knows nothing says so in a sentence.
func TestHeadlineOfNothing(t *testing.T) {
	t.Parallel()
	r := &Report{Status: Undecided, Unit: "requests/s", Sentence: "it is undecided whether all assertions hold even at 50 requests/s"}
	if got := r.Headline(); got != "No load was found: it is undecided whether all assertions hold even at 50 requests/s" {
		t.Error(got)
	}
}

// scripted is a store whose capacity doubles after a number of steps. Some steps are undecided.
type scripted struct {
	assert   *assert.Assertion
	capacity float64
	doubles  int
	open     []int
	steps    int
}

func (s *scripted) Step(_ context.Context, l Load, _ time.Duration, _ bool) (Observation, error) {
	if s.steps++; s.steps == s.doubles {
		s.capacity *= 2
	}
	v := Value{Assertion: s.assert, Measured: assert.Measured{Value: 10, Low: 9, High: 11, Known: true, Interval: true}}
	if l.Value > s.capacity {
		v.Value, v.Low, v.High = 100, 90, 110
	}
	if slices.Contains(s.open, s.steps) {
		v.Low, v.High = 9, 110
	}
	return Observation{Seconds: 10, Values: []Value{v}}, nil
}

// The upper end of the search is undecided when it is offered again, and holds before a confirmation is repeated: the search goes on above it.
func TestUpperEndHoldsAfterAll(t *testing.T) {
	t.Parallel()
	a, err := assert.Parse("response.p99<50ms", []string{"GET"})
	check.OK(t, err)
	// 100 holds, 200 fails; then 200 and 100 are undecided.
	s := &scripted{assert: a, capacity: 150, doubles: 3, open: []int{3, 4}}
	now := time.Unix(0, 0)
	r, err := Run(t.Context(), s, Options{Start: 100, Resolution: 1, MaxStep: MinStep, MaxTime: time.Hour, Workers: 20, MaxWorkers: 20, Now: func() time.Time { return now }})
	check.OK(t, err)
	if r.Status != Found || r.Estimate != 200 || r.Held != 200 || r.Failed != 400 {
		log(t, r)
		t.Errorf("%s at %v, between %v and %v; want %s at 200, between 200 and 400", r.Status, r.Estimate, r.Held, r.Failed, Found)
	}
}

// The sentence about a value agrees with its subject.
func TestDescribe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"errors<1%":         "errors were 5%, the limit is 1%",
		"response.p99<50ms": "response.p99 was 0.05 ms, the limit is 50 ms",
	} {
		a, err := assert.Parse(text, nil)
		check.OK(t, err)
		v := Value{Assertion: a, Measured: assert.Measured{Value: .05, Known: true}}
		if got := v.describe(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
