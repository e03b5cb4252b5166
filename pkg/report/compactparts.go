package report

import (
	"cmp"
	"fmt"
	"slices"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/results"
)

// A share is the part of one host or one client in all operations.
type share struct {
	name, run        string
	requests, errors uint64
	count            uint64 // successful requests
	bytesPerS, objs  float64
	busy             float64 // sum of their durations, in ms
}

func (s *share) mean() float64 { return exact.Ratio(s.busy, float64(s.count)) }

// worst names the worst client and the worst host if there are several.
func (p *compactPrinter) worst(ops []*results.Operation) {
	p.worstOf("client", shares(ops, func(op *results.Operation) []results.Part { return op.ByClient }))
	p.worstOf("host", shares(ops, func(op *results.Operation) []results.Part { return op.Hosts }))
}

func shares(ops []*results.Operation, of func(*results.Operation) []results.Part) (all []share) {
	for _, op := range ops {
		for _, part := range of(op) {
			i := slices.IndexFunc(all, func(s share) bool { return s.name == part.Name && s.run == part.Run })
			if i < 0 {
				i, all = len(all), append(all, share{name: part.Name, run: part.Run})
			}
			s := &all[i]
			s.requests, s.errors = s.requests+part.Requests, s.errors+part.Errors
			s.bytesPerS, s.objs = s.bytesPerS+part.BytesPerS, s.objs+part.ObjectsPerS
			if part.Duration != nil {
				s.count += part.Duration.Count
				s.busy += part.Duration.Mean * float64(part.Duration.Count)
			}
		}
	}
	return all
}

// fewerRequests is the share of its equal part of the requests below which a host was given few.
const fewerRequests = .8

// worstOf returns the part with the highest share of errors, or without errors the part whose
// requests took the longest.
func (p *compactPrinter) worstOf(noun string, all []share) {
	if len(all) < 2 {
		return
	}
	var whole share
	for i := range all {
		whole.requests += all[i].requests
		whole.errors, whole.count, whole.busy = whole.errors+all[i].errors, whole.count+all[i].count, whole.busy+all[i].busy
	}
	title := "slowest"
	worse := func(a, b share) int { return cmp.Compare(a.mean(), b.mean()) }
	if whole.errors > 0 {
		title = "worst"
		failed := func(s share) float64 { return exact.Ratio(float64(s.errors), float64(s.requests)) }
		worse = func(a, b share) int {
			return cmp.Or(cmp.Compare(failed(a), failed(b)), cmp.Compare(a.mean(), b.mean()))
		}
	}
	w := slices.MaxFunc(all, worse)
	name := human.Host(w.name)
	if slices.ContainsFunc(all, func(s share) bool { return s.name == w.name && s.run != w.run }) {
		name += " of run " + human.OneLine(w.run)
	}
	speed := human.PerSecond(w.objs) + " obj/s"
	if w.bytesPerS > 0 {
		speed = human.Rate(w.bytesPerS)
	}
	failed := human.PluralGrouped(w.errors, "error")
	if w.errors > 0 {
		failed += " of " + human.Grouped(w.requests)
	}
	few := ""
	if noun == "host" && float64(w.requests) < fewerRequests*float64(whole.requests)/float64(len(all)) {
		few = fmt.Sprintf("%.0f%% of the requests", 100*exact.Ratio(float64(w.requests), float64(whole.requests)))
	}
	p.fit(part(fmt.Sprintf("%s of %s", title, human.Plural(len(all), noun)), 3), part(name, 0), part(failed, 1), part(few, 1), part(speed, 4),
		part("mean "+human.Millis(w.mean())+" (all "+human.Millis(whole.mean())+")", 2))
}
