// Package find searches for the highest load at which all assertions about a store hold. It decides which load is offered for
// how long, and draws conclusions from the answers; a [Runner] offers the load.
package find

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"warp/internal/human"
)

// Piece is the length of the pieces of a step that the bootstrap resamples.
const Piece = 100 * time.Millisecond

// MinStep is how long a step lasts at least.
const MinStep = 10 * time.Second

// MinRunEvery is how long a run takes at least on average: the second run of a step may be short, and each later one is preceded
// by as much again.
const MinRunEvery = MinStep / 2

// A Load is the load of a step.
type Load struct {
	Value   float64 // requests per second, or workers of a closed loop
	Workers int     // of an open loop
}

// A Runner offers loads.
type Runner interface {
	// Step offers the load for that long, and returns the observation of the whole step. With more, it continues the
	// step before, which had the same load.
	Step(ctx context.Context, l Load, length time.Duration, more bool) (Observation, error)
}

// Options describe a search.
type Options struct {
	Start      float64 // the first load
	Resolution float64 // the search ends when the bracket is that narrow, as a share of the load
	MaxStep    time.Duration
	Hold       time.Duration // how long the result is held at the end; 0 = not
	MaxTime    time.Duration
	Workers    int // of an open loop, at first
	MaxWorkers int
	Closed     bool   // the load is a number of workers
	Requests   uint64 // that the assertions need at least
	Now        func() time.Time
	Progress   func(State) // is called before each step; nil = is not
}

// maxLoad ends the doubling.
const maxLoad = 1e8

// The roles of a step.
const (
	Search    = "search"
	FromAbove = "from above" // a confirmation after a higher load
	FromBelow = "from below" // a confirmation after a lower load
	Approach  = "approach"   // a load before a confirmation, which is not judged
	Hold      = "hold"
)

// A Step is a load that was offered.
type Step struct {
	Load
	Role    string
	Start   time.Time
	Outcome Outcome
	Passes  bool   // it held, or it is open and its values are on the right side
	Why     string // what has failed first, and by how much
	Repeat  bool   // it was repeated with more workers, or because this machine was the limit; only the last one counts
	Observation
}

// A State is the progress of a search.
type State struct {
	Role         string
	Load         Load
	Steps        int
	Held, Failed float64 // the bracket; 0 = unknown
	Left         time.Duration
}

// The results of a search.
const (
	Found      = "found"      // the highest load that held is confirmed
	None       = "none"       // not even the first load held
	Undecided  = "open"       // no load could be confirmed
	Hysteresis = "hysteresis" // a load held after a lower one, and failed after a higher one, or the other way round
	Limited    = "limited"    // something other than the store was the limit
)

// A Result is the result of a search.
type Result struct {
	Status   string
	Sentence string  // why the search ended as it did; "" if a load was found
	Estimate float64 // the highest load that passed and was confirmed, or else the highest one that held; 0 = there is none
	Held     float64 // the bracket: the highest load that held, 0 = none
	Failed   float64 // and the lowest one above it that failed, 0 = none
	First    string  // what fails first above the estimate
	Steps    []*Step
	Notes    []string
	Workers  int
	Seconds  float64
}

// errEnd ends the search; the result says why.
var errEnd = errors.New("the search has ended")

type search struct {
	Options
	r       Runner
	result  *Result
	began   time.Time
	lo, hi  float64 // of the search: open steps move it, too; hi 0 = unknown
	settled bool    // more workers do not help
	close   bool    // the search was narrow once
}

// Run searches. If ctx ends or a step returns an error, the result is incomplete.
func Run(ctx context.Context, r Runner, o Options) (*Result, error) {
	s := &search{Options: o, r: r, result: &Result{Workers: o.Workers}, began: o.Now()}
	err := s.run(ctx)
	if errors.Is(err, errEnd) {
		err = nil
	}
	s.conclude()
	return s.result, err
}

// maxRounds limits how often a result is searched for again because it was not confirmed.
const maxRounds = 5

func (s *search) run(ctx context.Context) error {
	if err := s.rise(ctx, s.Start); err != nil {
		return err
	}
	for range maxRounds {
		if err := s.bisect(ctx); err != nil {
			return err
		}
		s.close = true
		confirmed, err := s.confirm(ctx)
		if err != nil || confirmed {
			return err
		}
	}
	return s.end(Undecided, "no load could be confirmed: the store changes too much")
}

func (s *search) end(status, format string, args ...any) error {
	s.result.Status, s.result.Sentence = status, fmt.Sprintf(format, args...)
	return errEnd
}

func (s *search) note(format string, args ...any) {
	s.result.Notes = append(s.result.Notes, fmt.Sprintf(format, args...))
}

// rise doubles the load until a step does not pass.
func (s *search) rise(ctx context.Context, from float64) error {
	for load := from; ; load *= 2 {
		if err := s.offerable(load); err != nil {
			return err
		}
		st, err := s.step(ctx, load, Search)
		if err != nil {
			return err
		}
		if st.Passes {
			s.lo = load
			continue
		}
		s.hi = load
		if s.lo > 0 {
			return nil
		}
		if st.Outcome == Failed {
			return s.end(None, "the assertions do not all hold even at %s: %s", s.Show(load), st.Why)
		}
		return s.end(Undecided, "it is undecided whether all assertions hold even at %s", s.Show(load))
	}
}

// narrow reports whether the search is as exact as asked.
func (s *search) narrow() bool {
	if s.Closed && s.hi-s.lo <= 1 {
		return true
	}
	return s.hi <= s.lo*(1+s.Resolution)
}

// bisect narrows the search.
func (s *search) bisect(ctx context.Context) error {
	for !s.narrow() {
		load := (s.lo + s.hi) / 2
		if s.Closed {
			load = math.Floor(load)
		}
		st, err := s.step(ctx, load, Search)
		if err != nil {
			return err
		}
		if st.Passes {
			s.lo = load
		} else {
			s.hi = load
		}
	}
	return nil
}

// confirm offers the load again after a higher one and after a lower one, and then for a longer time. It returns false if the
// search has to go on.
func (s *search) confirm(ctx context.Context) (bool, error) {
	load := s.lo
	upper, err := s.step(ctx, s.hi, Search) // also confirms that it fails
	if err != nil {
		return false, err
	}
	if upper.Outcome == Held {
		return false, s.up(ctx)
	}
	before := len(s.result.Steps)
	above, below, err := s.fromBothSides(ctx, load, false)
	if err == nil && contradict(above, below) {
		above, below, err = s.fromBothSides(ctx, load, true)
	}
	switch {
	case err != nil:
		return false, err
	case s.upperHeld(before):
		return false, s.up(ctx)
	case contradict(above, below) && below.Outcome == Held:
		return true, s.end(Hysteresis, "all assertions hold at %s after a lower load, and not after a higher one", s.Show(load))
	case contradict(above, below):
		return true, s.end(Hysteresis, "all assertions hold at %s after a higher load, and not after a lower one", s.Show(load))
	case !above.Passes || !below.Passes:
		s.down(load)
		return false, nil
	case above.Outcome == Open || below.Outcome == Open:
		s.note("a confirmation of %s was undecided, and was judged by its value: a longer --max-step gives narrower intervals", s.Show(load))
	}
	if s.Hold > 0 {
		held, err := s.step(ctx, load, Hold)
		switch {
		case err != nil:
			return false, err
		case held.Outcome == Failed:
			s.note("the assertions did not hold at %s for longer", s.Show(load))
			s.down(load)
			return false, nil
		case held.Outcome == Open:
			s.note("it is undecided whether all assertions hold at %s for longer", s.Show(load))
		}
	}
	s.result.Status, s.result.Estimate = Found, load
	return true, nil
}

// upperHeld reports whether the upper end of the search held when it was offered before a confirmation. from is the first step to look at.
func (s *search) upperHeld(from int) bool {
	return slices.ContainsFunc(s.result.Steps[from:], func(st *Step) bool {
		return st.Role == Approach && st.Value >= s.hi && st.Outcome == Held
	})
}

// contradict reports whether it matters from which side the load was reached.
func contradict(above, below *Step) bool {
	return above.Outcome == Held && below.Outcome == Failed || above.Outcome == Failed && below.Outcome == Held
}

// fromBothSides confirms the load after a higher one and after a lower one. again says that the step before was not the higher one.
func (s *search) fromBothSides(ctx context.Context, load float64, again bool) (above, below *Step, err error) {
	if again { // with a clear overload, since the store may have recovered from the one before
		if _, err := s.step(ctx, s.overload(load), Approach); err != nil {
			return nil, nil, err
		}
	}
	if above, err = s.confirmOnce(ctx, load, FromAbove, s.hi); err != nil {
		return nil, nil, err
	}
	lower := s.whole(load / 2)
	if _, err = s.step(ctx, lower, Approach); err == nil {
		below, err = s.confirmOnce(ctx, load, FromBelow, lower)
	}
	return above, below, err
}

// overload returns twice the load, but no more than was offered before.
func (s *search) overload(load float64) float64 {
	highest := s.hi
	for _, st := range s.result.Steps {
		highest = max(highest, st.Value)
	}
	return min(2*load, highest)
}

// confirmOnce confirms a load that comes after another one. An open confirmation is repeated once.
func (s *search) confirmOnce(ctx context.Context, load float64, role string, after float64) (*Step, error) {
	st, err := s.step(ctx, load, role)
	if err != nil || st.Outcome != Open {
		return st, err
	}
	if _, err := s.step(ctx, after, Approach); err != nil {
		return st, err
	}
	return s.step(ctx, load, role)
}

// up goes on with higher loads, because the upper end of the search holds after all: in steps that double, since it may be
// close, or far away if the store has changed.
func (s *search) up(ctx context.Context) error {
	s.note("%s did not hold at first, and held later: the store has changed, or its times vary too much for steps of this length", s.Show(s.hi))
	s.lo, s.hi = s.hi, 0
	from := s.lo
	for more := s.Resolution; ; more *= 2 {
		load := s.whole(from * (1 + more))
		if load <= s.lo {
			load = s.lo + 1
		}
		if err := s.offerable(load); err != nil {
			return err
		}
		st, err := s.step(ctx, load, Search)
		if err != nil {
			return err
		}
		if !st.Passes {
			s.hi = load
			return nil
		}
		s.lo = load
	}
}

// offerable ends the search if the load is more than may be offered.
func (s *search) offerable(load float64) error {
	switch {
	case s.Closed && load > float64(s.MaxWorkers):
		return s.end(Limited, "all assertions hold with %s, and --max-concurrent allows %d", s.Show(s.lo), s.MaxWorkers)
	case load > maxLoad:
		return s.end(Limited, "all assertions hold at %s, and warp cannot offer more", s.Show(s.lo))
	}
	return nil
}

// down goes on with lower loads, because the load does not hold after all.
func (s *search) down(load float64) {
	s.hi, s.lo = load, s.whole(load/2)
	for _, st := range s.result.Steps {
		if st.counts() && st.Passes && st.Value < load {
			s.lo = max(s.lo, st.Value)
		}
	}
}

func (s *search) whole(load float64) float64 {
	if s.Closed {
		return max(1, math.Floor(load))
	}
	return load
}

// counts reports whether the outcome of the step belongs to the result.
func (st *Step) counts() bool { return !st.Repeat && st.Role != Approach }

// Show formats a load with its unit.
func (o *Options) Show(load float64) string {
	if o.Closed {
		return human.Plural(int(load), "worker")
	}
	return human.Number(load, 4) + " requests/s"
}

// Bracket describes the highest load that held and the lowest one above it that failed; 0 = unknown.
func (o *Options) Bracket(held, failed float64) string {
	switch {
	case held == 0 && failed == 0:
		return "unknown"
	case held == 0:
		return fmt.Sprintf("below %s", o.Show(failed))
	case failed == 0:
		return fmt.Sprintf("at least %s", o.Show(held))
	}
	return fmt.Sprintf("between %s and %s", o.Show(held), o.Show(failed))
}

// bracket returns the highest load that held and the lowest one above it that failed. The later one of two steps that contradict
// each other counts.
func (s *search) bracket() (held, failed float64, first string) {
	type end struct {
		load float64
		why  string
	}
	var holds, fails []end
	for _, st := range s.result.Steps {
		if !st.counts() {
			continue
		}
		switch st.Outcome {
		case Held:
			fails = slices.DeleteFunc(fails, func(e end) bool { return e.load <= st.Value })
			holds = append(holds, end{load: st.Value})
		case Failed:
			holds = slices.DeleteFunc(holds, func(e end) bool { return e.load >= st.Value })
			fails = append(fails, end{st.Value, st.Why})
		}
	}
	for _, e := range holds {
		held = max(held, e.load)
	}
	for _, e := range fails {
		if failed == 0 || e.load <= failed {
			failed, first = e.load, e.why
		}
	}
	return held, failed, first
}

// conclude completes the result.
func (s *search) conclude() {
	r := s.result
	r.Held, r.Failed, r.First = s.bracket()
	if r.Status != Found {
		r.Estimate = r.Held
	}
	r.Seconds = s.Now().Sub(s.began).Seconds()
	if r.Status == "" {
		r.Status = Undecided
		r.Sentence = "the search was ended early"
	}
}
