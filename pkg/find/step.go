package find

import (
	"context"
	"math"
	"strings"
	"time"

	"warp/internal/human"
)

// step offers a load, with more workers if they were all busy and that helps.
func (s *search) step(ctx context.Context, load float64, role string) (*Step, error) {
	clientLimited := false
	for {
		st, err := s.offer(ctx, Load{load, s.result.Workers}, role)
		switch {
		case err != nil || st.Outcome != Failed || role == Approach:
			return st, err
		case st.Client != "" && !clientLimited:
			clientLimited, st.Repeat = true, true
			continue
		case st.Client != "":
			st.Repeat = true
			return st, s.end(Limited, "at %s, %s", s.Show(load), strings.TrimSuffix(st.Client, "."))
		case s.Closed || !st.Busy || s.settled:
			return st, nil
		case s.result.Workers >= s.MaxWorkers:
			st.Repeat = true
			return st, s.end(Limited, "at %s all %s that --max-concurrent allows were busy", s.Show(load), human.Plural(s.result.Workers, "worker"))
		}
		more, err := s.moreWorkers(ctx, st)
		if err != nil || more == nil {
			return st, err
		}
		if more.Outcome != Failed {
			return more, nil
		}
	}
}

// moreWorkers repeats a failed step with twice as many workers. It returns nil if they do not help, so that the store is the
// limit.
func (s *search) moreWorkers(ctx context.Context, st *Step) (*Step, error) {
	few := s.result.Workers
	s.result.Workers = min(2*few, s.MaxWorkers)
	more, err := s.offer(ctx, Load{st.Value, s.result.Workers}, st.Role)
	if err != nil {
		return nil, err
	}
	if more.Outcome == Failed && !more.betterThan(&st.Observation) {
		s.settled, s.result.Workers = true, few
		more.Repeat = true
		s.note("%s did not help at %s: the store was the limit", human.Plural(more.Workers, "worker"), s.Show(st.Value))
		return nil, nil
	}
	st.Repeat = true
	return more, nil
}

// offer offers a load until it is judged or the step is as long as it may be.
func (s *search) offer(ctx context.Context, l Load, role string) (*Step, error) {
	st := &Step{Load: l, Role: role, Start: s.Now()}
	limit := s.MaxStep
	length := s.shortest(l.Value)
	switch {
	case role == Hold:
		length = max(s.Hold, length)
		limit = max(limit, length)
	case s.close && role != Approach:
		length = min(max(length, confirmStep), s.MaxStep)
	}
	for offered := time.Duration(0); ; {
		left := s.MaxTime - s.Now().Sub(s.began)
		if left < length {
			if offered == 0 {
				return st, s.end(Undecided, "--max-time=%s has passed", human.Duration(s.MaxTime))
			}
			break // judged by the requests so far
		}
		s.progress(l, role, left)
		o, err := s.r.Step(ctx, l, length, offered > 0)
		if err != nil {
			return st, err
		}
		if offered == 0 {
			s.result.Steps = append(s.result.Steps, st)
		}
		st.Observation = o
		st.Outcome, st.Why = o.judge()
		offered += length
		if st.Outcome != Open || role == Approach || offered >= limit {
			break
		}
		length = min(offered, limit-offered) // twice as long in all
	}
	st.Passes = st.Outcome == Held || st.Outcome == Open && st.Observation.passes()
	if st.Outcome == Open {
		st.Why = "the interval reaches over the limit"
	}
	return st, nil
}

// confirmStep is how long steps last at least once the search is close to its result: a short step may hold by chance.
const confirmStep = 30 * time.Second

// shortest returns how long a step lasts at least, so that there are enough requests for the assertions.
func (o *Options) shortest(load float64) time.Duration {
	if o.Closed {
		return MinStep
	}
	enough := time.Duration(math.Ceil(float64(o.Requests)/load)) * time.Second
	return min(max(MinStep, enough), o.MaxStep)
}

// FirstStep returns the load of the first step, and how long it is offered at least.
func (o *Options) FirstStep() (Load, time.Duration) {
	return Load{o.Start, max(o.Workers, 1)}, o.shortest(o.Start)
}

func (s *search) progress(l Load, role string, left time.Duration) {
	if s.Progress == nil {
		return
	}
	held, failed, _ := s.bracket()
	s.Progress(State{Role: role, Load: l, Steps: len(s.result.Steps), Held: held, Failed: failed, Left: left})
}
