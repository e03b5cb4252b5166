package find

import (
	"fmt"
	"math"
	"time"

	"warp/internal/human"
)

// A Report is the result of a search as data, in JSON and for people.
type Report struct {
	Version    int      `json:"version"` // 1
	Command    string   `json:"command"` // without secrets
	Benchmark  string   `json:"benchmark"`
	Folder     string   `json:"folder"` // with the op logs of the steps
	Unit       string   `json:"unit"`   // of loads: "requests/s" or "workers"
	Assertions []string `json:"assertions"`
	Status     string   `json:"status"`                // found, none, open, hysteresis or limited
	Sentence   string   `json:"sentence,omitempty"`    // why the search ended, if nothing was found
	Estimate   float64  `json:"estimate,omitempty"`    // the highest load at which all assertions hold
	Held       float64  `json:"held,omitempty"`        // the highest load that held
	Failed     float64  `json:"failed,omitempty"`      // the lowest load above it that failed
	FailsFirst string   `json:"fails_first,omitempty"` // what failed at that load
	Workers    int      `json:"workers,omitempty"`     // of each client
	AtLeast    float64  `json:"at_least,omitempty"`    // the load of --at-least
	Enough     string   `json:"enough,omitempty"`      // whether it holds: passed, failed or inconclusive
	Seconds    float64  `json:"duration_s"`
	Notes      []string `json:"notes,omitempty"`
	Steps      []Point  `json:"steps"`
}

// A Point is a step in a report.
type Point struct {
	Load     float64   `json:"load"`
	Workers  int       `json:"workers,omitempty"` // of each client
	Role     string    `json:"role"`
	Start    time.Time `json:"start"`
	Seconds  float64   `json:"duration_s"` // of its windows
	Outcome  Outcome   `json:"outcome"`
	Repeated bool      `json:"repeated,omitempty"` // another step took its place
	Why      string    `json:"why,omitempty"`
	Rate     float64   `json:"answered_per_s"`
	InFlight float64   `json:"in_flight"` // on average, without waiting ones
	Values   []Figure  `json:"values"`    // of the assertions, in their order
	Client   string    `json:"client,omitempty"`
	Logs     []string  `json:"logs"`
}

// A Figure is the measured value of an assertion at a load, in the unit of its limit.
type Figure struct {
	Assertion string   `json:"assertion"`
	Subject   string   `json:"subject"`
	Unit      string   `json:"unit"`
	Limit     float64  `json:"limit"`
	Measured  *float64 `json:"measured,omitempty"`
	Low       *float64 `json:"low,omitempty"` // of the 99 % interval
	High      *float64 `json:"high,omitempty"`
	Holds     bool     `json:"holds"`
}

// NewReport makes a report of a result.
func NewReport(r *Result, o *Options) *Report {
	out := &Report{Version: 1, Unit: "requests/s", Status: r.Status, Sentence: r.Sentence, Estimate: tidy(r.Estimate), Held: tidy(r.Held),
		Failed: tidy(r.Failed), FailsFirst: r.First, Workers: r.Workers, Seconds: tidy(r.Seconds), Notes: r.Notes}
	if o.Closed {
		out.Unit, out.Workers = "workers", 0
	}
	for _, st := range r.Steps {
		p := Point{Load: tidy(st.Value), Workers: st.Load.Workers, Role: st.Role, Start: st.Start.UTC(), Seconds: tidy(st.Seconds), Outcome: st.Outcome,
			Repeated: st.Repeat, Why: st.Why, Rate: tidy(st.Rate), InFlight: tidy(st.InFlight), Client: st.Client, Logs: st.Logs}
		for i := range st.Values {
			p.Values = append(p.Values, st.Values[i].figure())
		}
		out.Steps = append(out.Steps, p)
	}
	return out
}

// figure returns the value in the unit of the limit.
func (v *Value) figure() Figure {
	limit, _ := v.Assertion.Bound()
	unit, scale := v.Assertion.Unit.Name, v.Assertion.Unit.Scale
	if v.Assertion.Every > 0 {
		unit, scale = "%", .01
	}
	f := Figure{Assertion: v.Assertion.Text, Subject: v.Assertion.Subject(), Unit: unit, Limit: tidy(limit / scale), Holds: v.Known && v.Assertion.Holds(v.Measured.Value)}
	in := func(x float64) *float64 {
		x = tidy(x / scale)
		return &x
	}
	if v.Known {
		f.Measured = in(v.Measured.Value)
	}
	if v.Known && v.Interval {
		f.Low, f.High = in(v.Low), in(v.High)
	}
	return f
}

// tidy rounds to six digits.
func tidy(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return human.Rounded(x, 6)
}

// The answers to --at-least.
const (
	Passed       = "passed"
	NotEnough    = "failed"
	Inconclusive = "inconclusive"
)

// Demand judges the demand that a load of at least that much holds.
func (r *Report) Demand(load float64) {
	r.AtLeast, r.Enough = load, Inconclusive
	switch {
	case r.Held >= load:
		r.Enough = Passed
	case r.Failed > 0 && r.Failed <= load || r.Status == None:
		r.Enough = NotEnough
	}
}

func (r *Report) options() *Options { return &Options{Closed: r.Unit == "workers"} }

// Show formats a load with its unit.
func (r *Report) Show(load float64) string { return r.options().Show(load) }

// Bracket describes the bracket.
func (r *Report) Bracket() string { return r.options().Bracket(r.Held, r.Failed) }

// Headline returns the result in a sentence.
func (r *Report) Headline() string {
	switch {
	case r.Status == Found:
		return fmt.Sprintf("All assertions hold at %s (%s)", r.Show(r.Estimate), r.Bracket())
	case r.Status == None || r.Held == 0 && r.Failed == 0:
		return "No load was found: " + r.Sentence
	}
	return fmt.Sprintf("The highest load is %s: %s", r.Bracket(), r.Sentence)
}

// A Change compares the brackets of two searches.
type Change struct {
	Before  *Report `json:"before"`
	After   *Report `json:"after"`
	Verdict string  `json:"verdict"` // higher, lower, or unclear
	Percent float64 `json:"percent"` // from one estimate to the other; 0 if one is missing
}

// The verdicts of a Change.
const (
	Higher  = "higher"
	Lower   = "lower"
	Unclear = "unclear"
)

// Compare compares the brackets of two searches for the same assertions. It returns an error if they have different ones.
func Compare(before, after *Report) (*Change, error) {
	if before.Unit != after.Unit {
		return nil, fmt.Errorf("one search is for %s, and the other for %s", before.Unit, after.Unit)
	}
	if fmt.Sprint(before.Assertions) != fmt.Sprint(after.Assertions) {
		return nil, fmt.Errorf("the searches have different assertions: %q and %q", before.Assertions, after.Assertions)
	}
	c := &Change{Before: before, After: after, Verdict: Unclear}
	switch {
	case before.Failed > 0 && after.Held >= before.Failed:
		c.Verdict = Higher
	case after.Failed > 0 && before.Held >= after.Failed:
		c.Verdict = Lower
	}
	if before.Estimate > 0 && after.Estimate > 0 {
		c.Percent = tidy(100 * (after.Estimate/before.Estimate - 1))
	}
	return c, nil
}
