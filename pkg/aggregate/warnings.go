package aggregate

import (
	"fmt"
	"slices"
	"strings"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/results"
)

// warnings returns what a reader of the group's figures should know.
func (g *groupView) warnings(r *results.GroupReport, ops []results.Operation, o *Options, staged bool) (all []string) {
	names := strings.Join(r.Operations, ", ")
	if s := g.Statement; s.Number > 0 {
		s.Stage = staged
		names = human.UpperFirst(s.Title()) + ", " + names
	}
	say := func(who, format string, a ...any) { all = append(all, who+": "+fmt.Sprintf(format, a...)) }
	if n := r.ColdWorkers; n > 0 && g.basis == results.Measured {
		say(names, "%d of %s had not finished a request when the window began.", n, human.Plural(uint64(r.Concurrency), "worker"))
	}
	if g.run != "" {
		return all
	}
	all = append(all, g.overlap(names)...)
	for i := range ops {
		all = append(all, g.opWarnings(&ops[i], o)...)
	}
	return all
}

// apartWarning says why the runs of a group are reported separately.
func (g *groupView) apartWarning() string {
	var names []string
	for _, op := range g.Ops {
		if op.Requests > 0 {
			names = append(names, op.ID.Name)
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("%s: fewer than %d requests started in the time in which all %d runs were measured, so each run is reported by itself and whole, warm-up included.",
		strings.Join(names, ", "), fewRequests, len(g.runKeys()))
}

func (g *groupView) opWarnings(op *results.Operation, o *Options) (all []string) {
	say := func(format string, a ...any) { all = append(all, op.Op+": "+fmt.Sprintf(format, a...)) }
	windowed := g.Kind == measured || g.Kind == derived
	switch {
	case op.WindowBasis == results.NoWindow && o.Skip > 0:
		say("nothing is left after skipping %v; there are no rates or latencies.", o.Skip)
	case windowed && op.WindowBasis == results.Whole:
		say("fewer than %d successful requests started in the window, so the figures cover the whole run, warm-up included; run longer.", fewRequests)
		return all
	}
	times, began := op.Duration, "started"
	if op.Response != nil {
		times, began = op.Response, "was due"
	}
	if f := op.InFlight; f.Requests > 0 && (times == nil || f.LongestMS > times.Max) {
		say("%s in flight when the window began, and the longest took %s, longer than any that %s in the window.",
			wereRequests(f.Requests), human.Millis(f.LongestMS), began)
	}
	for _, p := range []struct {
		when string
		*results.Outside
	}{{"before", &op.WarmUp}, {"after", &op.Late}} {
		inFlight := p.Outside == &op.WarmUp && op.InFlight.Requests > 0 && op.InFlight.LongestMS == p.LongestMS
		if p.Requests > 0 && times != nil && p.LongestMS > times.Max && !inFlight {
			say("a request that %s %s the window, at %s, took %s, longer than any that %s in the window.",
				began, p.when, p.LongestStart.Format("15:04:05 MST"), human.Millis(p.LongestMS), began)
		}
	}
	if outside := op.WarmUp.Requests + op.Late.Requests; op.WindowBasis == results.Derived && 20*outside > op.Requests {
		say("%.1f %% of the requests started outside of the window.", 100*exact.Ratio(float64(outside), float64(op.Requests)))
	}
	if u := op.Unanswered; u != nil {
		say("%s without an answer at the end of the run and not in the percentiles: %s waited %s or longer.",
			wereRequests(u.Requests), human.Choose(u.Requests, "it", "each"), human.Millis(u.ShortestMS))
	}
	return all
}

// overlap warns if several runs do not overlap nearly all of the time.
func (g *groupView) overlap(names string) []string {
	longest := int64(0)
	for _, w := range g.runs {
		longest = max(longest, exact.Distance(w.Begin, w.End))
	}
	common := exact.Distance(g.start, g.end)
	if len(g.runs) < 2 || g.basis == results.Whole || 20*(longest-common) <= longest {
		return nil
	}
	return []string{fmt.Sprintf("%s: the %d runs were measured at the same time for %s only, of up to %s each; the figures cover that time.",
		names, len(g.runs), human.Millis(float64(common)/1e6), human.Millis(float64(longest)/1e6))}
}

func wereRequests(n uint64) string { return human.Count(n, "request was", "requests were") }
