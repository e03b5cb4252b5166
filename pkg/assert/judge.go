package assert

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warp/pkg/results"
	"warp/pkg/stats"
)

// Slices returns the segment lengths that a summary must keep for the
// assertions, see aggregate.Options.
func Slices(all []*Assertion) (lengths []time.Duration) {
	if len(all) > 0 {
		lengths = []time.Duration{0}
	}
	for _, a := range all {
		if !slices.Contains(lengths, a.Every) {
			lengths = append(lengths, a.Every)
		}
	}
	return lengths
}

// Judge judges assertions about a run by its report, which must have the slices
// that they need. With strict, an assertion holds only if its whole interval
// does. An assertion has one result for each statement of a script that it
// applies to.
func Judge(all []*Assertion, r *results.Report, strict bool) (judged []results.Assertion) {
	for _, a := range all {
		if a.Metric.Family.ofMarks() {
			v := verdict{Assertion: a, report: r, strict: strict}
			judged = append(judged, v.judgeMarks())
			continue
		}
		subjects := subjectsOf(a, r)
		if len(subjects) == 0 {
			judged = append(judged, a.noData(r))
		}
		for _, s := range subjects {
			v := verdict{Assertion: a, subject: s, report: r, strict: strict}
			judged = append(judged, v.judge())
		}
	}
	return judged
}

// A subject has the figures by which an assertion is judged: an operation, or a whole group.
type subject struct {
	timeline *results.Timeline
	group    *results.GroupReport
	response *results.Stats
	of       *results.Operation // the only one or the first of a group; nil = none
	run      string
	basis    results.Basis
	bytes    bool // it moves payload
	unsent   bool // unsent requests may belong to it
}

// subjectsOf finds the operations or groups that an assertion applies to.
// Preparation and warm-up are not judged.
func subjectsOf(a *Assertion, r *results.Report) (all []subject) {
	main := r.MainGroup()
	for i := range r.Groups {
		g := &r.Groups[i]
		ops := slices.DeleteFunc(r.OperationsOf(i), func(o *results.Operation) bool { return o.Warmup })
		total := a.Op == ""
		if g.Kind == results.KindPreparation || len(ops) == 0 || total && main >= 0 && i != main {
			continue
		}
		if total {
			s := subject{timeline: g.Timeline, group: g, response: g.Response, of: ops[0], run: g.Run, basis: g.WindowBasis}
			s.bytes = slices.ContainsFunc(ops, (*results.Operation).HasBytes)
			all = append(all, s)
			continue
		}
		for _, o := range ops {
			if o.Op == a.Op {
				all = append(all, subject{timeline: o.Timeline, group: g, response: o.Response, of: o, run: g.Run,
					basis: o.WindowBasis, bytes: o.HasBytes(), unsent: g.Unsent > 0 && len(ops) > 1})
			}
		}
	}
	return all
}

// noData fails an assertion about an operation that the run did not perform.
func (a *Assertion) noData(r *results.Report) results.Assertion {
	var there []string
	for _, o := range r.Operations {
		if g := r.Groups[o.Group]; g.Kind != results.KindPreparation && !o.Warmup && !slices.Contains(there, o.Op) {
			there = append(there, o.Op)
		}
	}
	v := verdict{Assertion: a, report: r}
	if len(there) == 0 {
		return v.result(results.Failed, "there is no data: nothing was measured")
	}
	return v.result(results.Failed, fmt.Sprintf("there is no data: the run has no %s, only %s", a.Op, strings.Join(there, ", ")))
}

// A verdict is an assertion while it is judged.
type verdict struct {
	*Assertion
	subject
	report *results.Report
	strict bool

	measured      float64
	known         bool
	low, high     float64
	interval      bool
	passed, total int
	machines      int // pieces whose figure is this machine's
	untimed       int // pieces without time stamps, of an assertion about the time on the wire
}

func (v *verdict) judge() results.Assertion {
	if v.timeline == nil {
		return v.result(results.Inconclusive, "the log has aggregated results, without the single requests that assertions are judged by")
	}
	if v.Metric.Family == Throughput && !v.bytes {
		return v.result(results.Failed, "there is no data: no payload was moved; use objs")
	}
	if why := v.unstamped(&v.timeline.Whole); why != "" {
		return v.result(results.Inconclusive, why)
	}
	if v.Every > 0 {
		return v.judgeSegments()
	}
	v.measured, v.known = v.Metric.of(&v.timeline.Whole)
	if !v.known {
		return v.result(results.Failed, "there is no data")
	}
	v.low, v.high, v.interval = v.Metric.interval(v.timeline.Slices[0], usual)
	// Histograms round values by 0.4 % except for extremes, so the interval may
	// miss an extreme.
	v.low, v.high = min(v.low, v.measured), max(v.high, v.measured)
	if why := v.undecided(); why != "" {
		return v.result(results.Inconclusive, why)
	}
	if !v.Cmp.holds(v.measured, v.Limit) {
		return v.result(results.Failed, "")
	}
	return v.strictly()
}

// undecided says why the measured value is inconclusive, or "".
func (v *verdict) undecided() string {
	if why := v.clients(&v.timeline.Whole); why != "" {
		return why
	}
	n, needs := v.Metric.requests(&v.timeline.Whole), v.Metric.needs()
	switch {
	case v.Metric.Family.isTime() && n < needs:
		return fmt.Sprintf("%d requests are too few for %s, which needs %d", n, v.Metric, needs)
	case v.Metric.Family != Errors && v.basis == results.Whole && v.group.Kind != "statement":
		return "too few requests started in the window, so the figure covers the warm-up as well"
	case v.Metric.Family == Response && v.unsent:
		return fmt.Sprintf("%d requests were never sent, and which of them were %s is not known", v.group.Unsent, v.Op)
	case v.Metric.Family == Response && v.Cmp.Upper() && v.response != nil && v.response.Unsent > 0 && v.measured >= v.response.UnsentMin && v.Cmp.holds(v.measured, v.Limit):
		return fmt.Sprintf("%d requests were never sent, so the figure is a lower bound", v.response.Unsent)
	}
	return ""
}

// strictly returns the result for a measured value that holds.
func (v *verdict) strictly() results.Assertion {
	switch {
	case !v.strict:
	case !v.interval && v.Every == 0 && v.Metric.Family.isTime() && v.Metric.Stat != Mean && v.Metric.Stat != Percentile:
		return v.result(results.Inconclusive, "--assert-strict needs an interval, and an extreme has none")
	case !v.interval:
		return v.result(results.Inconclusive, fmt.Sprintf("there is no interval, which --assert-strict asks for: the window has fewer than %d pieces", minSegments))
	case v.Every > 0 && v.low < v.Share-1e-12, v.Every == 0 && !(v.Cmp.holds(v.low, v.Limit) && v.Cmp.holds(v.high, v.Limit)):
		return v.result(results.Inconclusive, "the interval reaches beyond the limit, and --assert-strict asks for all of it")
	}
	return v.result(results.Passed, "")
}

// judgeSegments judges an assertion with every.
func (v *verdict) judgeSegments() results.Assertion {
	segments := results.JoinSlices(v.timeline.Slices[v.Every], v.Every)
	if v.Metric.ofRequests() {
		segments = slices.DeleteFunc(segments, func(s results.Slice) bool { return idle(&s) })
	}
	if len(segments) == 0 || len(segments) == 1 && 2*segments[0].Seconds < v.Every.Seconds() {
		return v.result(results.Failed, fmt.Sprintf("there is no data: the window is shorter than half of %s", v.Every))
	}
	v.total, v.known = len(segments), true
	unknown, worst := 0, -1
	passed, one := make([]float64, len(segments)), make([]float64, len(segments))
	for i := range segments {
		one[i] = 1
		switch v.judgeSegment(&segments[i]) {
		case results.Passed:
			passed[i], v.passed = 1, v.passed+1
		case results.Inconclusive:
			unknown++
		case results.Failed:
			if worst < 0 || v.worse(&segments[i], &segments[worst]) {
				worst = i
			}
		}
	}
	v.measured = float64(v.passed) / float64(v.total)
	if v.total >= minSegments {
		v.low, v.high, v.interval = stats.RatioInterval(passed, one, usual)
	}
	need := int(math.Ceil(v.Share*float64(v.total) - 1e-9))
	if why := v.suspected(); why != "" && (v.passed < need || !v.certain()) {
		return v.result(results.Inconclusive, why)
	}
	switch {
	case v.passed >= need:
		return v.strictly()
	case v.passed+unknown >= need && v.machines > 0:
		return v.result(results.Inconclusive, fmt.Sprintf("in %d of the %d pieces the figure is this machine's, not the store's", v.machines, v.total))
	case v.passed+unknown >= need && v.untimed > 0:
		return v.result(results.Inconclusive, fmt.Sprintf("in %d of the %d pieces the time on the wire is unknown", v.untimed, v.total))
	case v.passed+unknown >= need:
		return v.result(results.Inconclusive, fmt.Sprintf("%d of the %d pieces have too few requests for %s, which needs %d in each", unknown, v.total, v.Metric, v.Metric.needs()))
	}
	return v.result(results.Failed, v.worst(&segments[worst]))
}

// unanswered reports whether requests were due or in flight in a segment and
// none was answered.
func unanswered(s *results.Slice) bool { return s.Ended == 0 && s.InFlight+s.Inside+s.Errors > 0 }

// idle reports whether no request was due in a segment, and none was left
// unanswered.
func idle(s *results.Slice) bool { return s.Inside+s.Errors == 0 && !unanswered(s) }

// ofSegment returns the metric of one segment of the window, or false if
// there is no data, or if requests were due or in flight and none was answered.
func (a *Assertion) ofSegment(s *results.Slice) (float64, bool) {
	if unanswered(s) {
		return 0, false
	}
	return a.Metric.of(s)
}

// judgeSegment judges one segment of the window.
func (v *verdict) judgeSegment(s *results.Slice) string {
	if v.Metric.ofRequests() && idle(s) {
		return results.Inconclusive
	}
	value, ok := v.ofSegment(s)
	n := v.Metric.requests(s)
	switch {
	case !unanswered(s) && v.unstamped(s) != "":
		v.untimed++
		return results.Inconclusive
	case !ok:
		return results.Failed // no request was answered
	case v.Metric.Family.isTime() && n < v.Metric.needs():
		if v.allBeyond(s, n) {
			return results.Failed
		}
		return results.Inconclusive
	case v.Cmp.holds(value, v.Limit):
		return results.Passed
	case v.clients(s) != "":
		v.machines++
		return results.Inconclusive
	}
	return results.Failed
}

// allBeyond reports whether the few requests of a segment are all on the wrong
// side of the limit, with a probability of at most 5 % if the assertion held.
func (a *Assertion) allBeyond(s *results.Slice, n uint64) bool {
	h := a.Metric.Family.times(s)
	if a.Cmp.Upper() {
		return !a.Cmp.holds(millis(h.Min()), a.Limit) && math.Pow(1-a.Metric.Q, float64(n)) <= .05
	}
	return !a.Cmp.holds(millis(h.Max()), a.Limit) && math.Pow(a.Metric.Q, float64(n)) <= .05
}

// worse reports whether one segment is further from holding than another.
func (v *verdict) worse(s, than *results.Slice) bool {
	a, ok := v.ofSegment(s)
	b, has := v.ofSegment(than)
	if !ok || !has {
		return has && !ok
	}
	return v.Cmp.Upper() && a > b || !v.Cmp.Upper() && a < b
}

// worst describes the worst segment.
func (v *verdict) worst(s *results.Slice) string {
	value, ok := v.ofSegment(s)
	at := s.Start.Format("15:04:05 MST")
	if !ok {
		return fmt.Sprintf("the worst, from %s on, has no answer at all", at)
	}
	return fmt.Sprintf("the worst, from %s on, has %s", at, v.Format(value))
}

// result returns the outcome with its sentence.
func (v *verdict) result(outcome, why string) results.Assertion {
	a := results.Assertion{
		Assertion: v.Text, Subject: v.Subject(), Result: outcome,
		Unit: v.Unit.Name, Limit: tidy(v.Limit / v.Unit.Scale), Pieces: v.total, Held: v.passed, Smaller: v.Cmp.Upper(),
	}
	if v.of != nil {
		a.Statement, a.Stage = v.of.Statement, v.of.Stage
	}
	scale := v.Unit.Scale
	if v.timeline != nil {
		a.Requests = v.Metric.requests(&v.timeline.Whole)
	}
	if v.Every > 0 {
		scale, a.Unit, a.Limit, a.Smaller = .01, "%", tidy(v.Share*100), false
	}
	if v.known {
		a.Measured = pointer(v.measured / scale)
	}
	if v.interval {
		a.Low, a.High = pointer(v.low/scale), pointer(v.high/scale)
	}
	a.Sentence = v.sentence(outcome, why)
	return a
}

// tidy rounds to hide floating-point noise.
func tidy(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 12-math.Ceil(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

func pointer(x float64) *float64 {
	x = tidy(x)
	return &x
}

// sentence returns the assertion, the outcome, the measured value and the
// reason.
func (v *verdict) sentence(outcome, why string) string {
	s := v.Text
	if v.of != nil && v.of.Statement > 0 {
		s = v.of.Part().Title() + ": " + s
	} else if v.run != "" {
		s = fmt.Sprintf("run %s: %s", v.run, s)
	}
	s += map[string]string{results.Passed: " holds", results.Failed: " failed", results.Inconclusive: " is inconclusive"}[outcome]
	var parts []string
	if v.known {
		parts = append(parts, v.value())
	}
	if why != "" {
		parts = append(parts, strings.TrimSuffix(why, "."))
	}
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, "; ")
	}
	return s
}

// value returns the measured value with its interval.
func (v *verdict) value() string {
	if v.Every > 0 {
		return fmt.Sprintf("%d of %d pieces hold (%s%%)", v.passed, v.total, digits(100*v.measured))
	}
	s := "measured " + v.Format(v.measured)
	if v.interval {
		s += fmt.Sprintf(" (%s to %s within this run)", digits(v.low/v.Unit.Scale), v.Format(v.high))
	}
	return s
}
