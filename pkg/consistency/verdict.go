package consistency

import (
	"fmt"
	"slices"
	"time"

	"warp/pkg/results"
)

// violated notes that operations contradict a property.
func (j *judge) violated(p *property, rule string, ops []*Operation) {
	p.Violations++
	if len(p.Shown) < maxShown || !p.firsts[rule] && len(p.Shown) < 2*maxShown {
		p.firsts[rule] = true
		p.Shown = append(p.Shown, j.describe(rule, ops))
	}
}

// undecided notes operations that only something between client and store explains, if the store keeps the property.
func (j *judge) undecided(p *property, rule string, ops []*Operation) {
	p.Undecided++
	if len(p.open) < maxShown {
		p.open = append(p.open, j.describe(rule, ops))
	}
}

// maxHistory is how many operations of a violation are shown.
const maxHistory = 12

// describe makes a violation of operations, which are shown in the order of time.
func (j *judge) describe(rule string, ops []*Operation) results.Violation {
	ops = withoutNil(slices.Clone(ops)...)
	v := results.Violation{Rule: rule}
	if n := len(ops) - maxHistory; n > 0 {
		v.More, ops = n, slices.Concat(ops[:maxHistory-2], ops[len(ops)-2:]) // the last ones are mostly reads
	}
	last := int64(0)
	for _, o := range ops {
		v.Key = o.Key
		v.History = append(v.History, j.event(o))
		last = max(last, o.End)
	}
	v.At = time.Unix(0, last).UTC()
	for _, m := range j.log.Marks {
		if m.At <= last {
			v.AfterMark = m.Text
			v.AfterMarkS = time.Duration(last - m.At).Seconds()
		}
	}
	return v
}

// event describes one operation. It has the times of the request, without the error of clocks.
func (j *judge) event(o *Operation) results.HistoryEvent {
	wide := int64(j.log.ClockError)
	return results.HistoryEvent{
		Start: time.Unix(0, o.Start+wide).UTC(), End: time.Unix(0, max(o.End-wide, o.Start+wide)).UTC(),
		Client: o.Client, Thread: o.Thread, Host: o.Endpoint, Op: o.Op, Key: o.Key,
		Condition: o.Condition, Sent: o.Sent, Outcome: o.Outcome, Status: int(o.Status), Received: o.Received, Error: o.Err,
	}
}

// verdict returns the row of a property in the report.
func (j *judge) verdict(p *property) results.ConsistencyProperty {
	r := &p.ConsistencyProperty
	seconds := j.log.Seconds
	if seconds <= 0 {
		seconds = time.Duration(p.to - p.from).Seconds()
	}
	if seconds > 0 {
		r.OperationsPerS, r.WonPerS = float64(r.Operations)/seconds, float64(r.Won)/seconds
	}
	if n := len(p.latencies); n > 0 {
		slices.Sort(p.latencies)
		r.ContendedP50 = milliseconds(p.latencies[(n-1)/2])
		r.ContendedP99 = milliseconds(p.latencies[min(n-1, n*99/100)])
	}
	r.Verdict, r.Reason = j.decide(p)
	if r.Verdict == results.ConsistencyUndecided {
		r.Shown = p.open
	}
	return *r
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// whyUnsupported says how a store refused a condition.
func whyUnsupported(o *Operation) string {
	if o.Status == 0 {
		return "warp knows no such condition in the API of this store"
	}
	return fmt.Sprintf("the store answered %s with a condition with status %d", o.Op, o.Status)
}

// decide returns the verdict on a property, and why.
func (j *judge) decide(p *property) (verdict, reason string) {
	why, notPromised := j.log.NotPromised[p.Property]
	switch {
	case p.Violations > 0 && notPromised:
		return results.ConsistencyNotPromised, fmt.Sprintf("%s; seen %d times", why, p.Violations)
	case p.ignored:
		return results.ConsistencyViolated, "ignored: a request whose condition was false succeeded"
	case p.Violations > 0:
		return results.ConsistencyViolated, p.Shown[0].Rule
	case notPromised:
		return results.ConsistencyNotPromised, why
	case len(p.unsupported) > 0:
		return results.ConsistencyNotSupported, whyUnsupported(p.unsupported[0])
	case p.Undecided > 0:
		return results.ConsistencyUndecided, p.open[0].Rule
	case p.Property == Register && p.Lost > 0 && !p.progress:
		return results.ConsistencyUndecided, "no progress: no update ever succeeded, not even with a single worker"
	case p.decisive == 0 && NeedsCondition(p.Property):
		return results.ConsistencyUndecided, "no request with a condition was answered"
	case p.decisive == 0:
		return results.ConsistencyUndecided, "no write succeeded"
	case p.Checks == 0:
		return results.ConsistencyUndecided, "nothing was checked"
	}
	return results.ConsistencyHeld, ""
}
