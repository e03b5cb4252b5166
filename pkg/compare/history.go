package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warp/pkg/results"
	"warp/pkg/stats"
)

// changeAlpha is the probability that a history without a change of any judged metric has one.
const changeAlpha = .01

// A Past is a run in a history.
type Past struct {
	Run
	Label string // such as the commit that was measured
	Set   string // the baseline that the run belongs to; "" = none
}

// A History has runs in order of time, and when their figures changed.
type History struct {
	Version   int        `json:"version"` // 1
	Kind      string     `json:"kind"`    // "history"
	MinEffect float64    `json:"min_effect_percent"`
	Workloads []Workload `json:"workloads"` // in order of their first run
}

// A Workload is all runs that did the same.
type Workload struct {
	Name   string    `json:"name"`         // benchmark, size and concurrency
	ID     string    `json:"id,omitempty"` // identity of the load; missing if unknown
	Needed int       `json:"runs_needed"`  // for a change to be found at all
	Runs   []PastRun `json:"runs"`         // in order of time
	Series []Series  `json:"series"`       // the total or the only operation first
}

// A PastRun is one run of a history.
type PastRun struct {
	File    string    `json:"file"`
	Label   string    `json:"label"`
	Set     string    `json:"set,omitempty"`   // the baseline that it belongs to
	Start   time.Time `json:"start"`           // of the measured part; the zero time if unknown
	Warp    string    `json:"warp,omitempty"`  // version that measured
	Unfit   string    `json:"unfit,omitempty"` // why its figures are in no verdict
	Change  *float64  `json:"change_percent"`  // of the throughput, or of the objects per second, from the run before; null for the first
	Verdict Verdict   `json:"verdict"`         // "" = none is possible
	Details []string  `json:"details"`         // of the verdict; may be empty
	report  *results.Report
}

// Report returns the report of the run.
func (r *PastRun) Report() *results.Report { return r.report }

// A Series is one metric over all runs.
type Series struct {
	Op        string        `json:"op"` // "" = all
	Statement int           `json:"statement,omitempty"`
	Stage     bool          `json:"stage,omitempty"` // the statement is a stage of --stages
	Metric    string        `json:"metric"`
	Unit      results.Unit  `json:"unit"`
	Higher    bool          `json:"higher_is_better"`
	Judged    bool          `json:"judged"`    // changes of it were looked for
	Values    []*float64    `json:"values"`    // of each run; null if it lacks the metric
	Stretches []Stretch     `json:"stretches"` // between changes, in order of time; empty if not judged
	Changes   []ChangePoint `json:"changes"`   // may be empty
}

// A Stretch is a time without a change of a metric.
type Stretch struct {
	From   int      `json:"from"` // index of the first run
	To     int      `json:"to"`   // index after the last run
	Runs   int      `json:"runs"` // that count
	Median float64  `json:"median"`
	Low    *float64 `json:"low"` // 95 % interval of the median; null with fewer than 6 runs
	High   *float64 `json:"high"`
}

// A ChangePoint is where a metric changed.
type ChangePoint struct {
	Run        int         `json:"run"` // index of the first run after the change
	Change     *float64    `json:"change_percent"`
	Low        *float64    `json:"low_percent"` // 95 % interval; null if unbounded
	High       *float64    `json:"high_percent"`
	Verdict    Verdict     `json:"verdict"`    // better, worse, or equivalent
	Parameters []Parameter `json:"parameters"` // in which the run differs from the one before; may be empty
}

// NewHistory puts runs in order of time, and finds out when the metrics changed that are judged.
func NewHistory(runs []Past, o Options) (*History, error) {
	plain := make([]Run, len(runs))
	for i := range runs {
		plain[i] = runs[i].Run
	}
	if err := Distinct(plain); err != nil {
		return nil, err
	}
	h := &History{Version: 1, Kind: "history", MinEffect: 100 * o.MinEffect, Workloads: []Workload{}}
	ordered := slices.Clone(runs)
	slices.SortStableFunc(ordered, func(a, b Past) int { return startOf(a.Report).Compare(startOf(b.Report)) })
	index := map[string]int{}
	var parts [][]Past
	for _, r := range ordered {
		name := cmp.Or(r.Report.Identity().ID, nameOf(r.Report))
		i, ok := index[name]
		if !ok {
			i = len(parts)
			index[name], parts = i, append(parts, nil)
		}
		parts[i] = append(parts[i], r)
	}
	for _, part := range parts {
		w, err := newWorkload(part, o)
		if err != nil {
			return nil, err
		}
		h.Workloads = append(h.Workloads, *w)
	}
	return h, nil
}

func startOf(r *results.Report) time.Time {
	s, _ := spanOf(r)
	return s.begin
}

// nameOf names what a run did, in a few words.
func nameOf(r *results.Report) string {
	p := r.Parameters
	parts := []string{cmp.Or(r.Benchmark, "(unknown benchmark)")}
	for _, name := range []string{"obj.size", "part.size", "range", "range-size", "rps-limit"} {
		switch value := p[name]; {
		case value == "" || value == "0" || value == "false":
		case name == "obj.size":
			parts = append(parts, value)
		default:
			parts = append(parts, name+"="+value)
		}
	}
	if p["obj.randsize"] == "true" {
		parts = append(parts, "random sizes")
	}
	name := strings.Join(parts, " ")
	if workers := p["concurrent"]; workers != "" {
		name += ", concurrent " + workers
	}
	return name
}

func newWorkload(runs []Past, o Options) (*Workload, error) {
	w := &Workload{Name: nameOf(runs[0].Report), ID: runs[0].Report.Identity().ID}
	for _, r := range runs {
		w.Runs = append(w.Runs, PastRun{File: r.Name, Label: r.Label, Set: r.Set, Start: startOf(r.Report), Warp: r.Report.Warp,
			Unfit: Unfit(r.Report, o.MaxErrors), Details: []string{}, report: r.Report})
	}
	w.collect(o)
	w.findChanges(o)
	w.throughputs()
	return w, w.judgeSets(runs, o)
}

// collect collects the listed metrics of the total and of each operation.
func (w *Workload) collect(o Options) {
	type id struct {
		Name
		metric string
	}
	c := &comparison{Options: o}
	c.Hosts = false
	index := map[id]int{}
	metrics := results.Metrics()
	for i := range w.Runs {
		c.figures(w.Runs[i].report, func(k Name, total bool, f results.Figures) {
			if k.Warmup {
				return
			}
			s := &subject{Name: k, total: total}
			for _, m := range metrics {
				value, ok := m.Of(&f)
				judged := c.judged(s, m.Name, f.HasBytes)
				if !ok || !m.Listed && !judged {
					continue
				}
				at, known := index[id{k, m.Name}]
				if !known {
					at = len(w.Series)
					index[id{k, m.Name}] = at
					w.Series = append(w.Series, Series{Op: k.Op, Statement: k.Statement, Stage: k.Stage, Metric: m.Name, Unit: m.Unit, Higher: m.Higher,
						Values: make([]*float64, len(w.Runs)), Changes: []ChangePoint{}})
				}
				w.Series[at].Values[i] = &value
				w.Series[at].Judged = w.Series[at].Judged || judged && !m.MayBe0
			}
		})
	}
}

// findChanges finds the changes of judged metrics. Runs that are unfit do not count.
func (w *Workload) findChanges(o Options) {
	judged := 0
	for i := range w.Series {
		if w.Series[i].Judged {
			judged++
		}
	}
	w.Needed = neededForChange(changeAlpha / float64(max(1, judged)))
	for i := range w.Series {
		c := &w.Series[i]
		at, values := w.counted(c)
		var changes []int
		if logs, ok := logarithms(values); c.Judged && ok {
			changes = stats.ChangePoints(logs, changeAlpha/float64(judged))
			c.describe(w, at, logs, changes, o)
		}
		c.Stretches = []Stretch{}
		if c.Judged { // of others it is unknown where they change
			c.stretch(at, values, changes)
		}
	}
}

// neededForChange returns the number of runs with which few enough permutations are as extreme as the clearest change, which is
// in the middle.
func neededForChange(alpha float64) (n int) {
	for n = 2 * minSide; ; n++ {
		share := 2.0 // in either direction
		for i := range n / 2 {
			share *= float64(i+1) / float64(n-i)
		}
		if share <= alpha {
			return n
		}
	}
}

// counted returns the values of the runs that count, and the indices of these runs.
func (w *Workload) counted(c *Series) (at []int, values []float64) {
	for i, v := range c.Values {
		if v != nil && w.Runs[i].Unfit == "" {
			at, values = append(at, i), append(values, *v)
		}
	}
	return at, values
}

// describe says how large the changes are. Each is between the stretches before and after it.
func (c *Series) describe(w *Workload, at []int, logs []float64, changes []int, o Options) {
	ends := slices.Concat([]int{0}, changes, []int{len(logs)})
	for i, k := range changes {
		s := stats.RankShift(logs[ends[i]:k], logs[k:ends[i+2]], 1-intervalLevel)
		var r Row
		r.show(s)
		p := ChangePoint{Run: at[k], Change: r.Change, Low: r.Low, High: r.High, Verdict: Worse}
		switch {
		case math.Abs(math.Expm1(s.Estimate)) < o.MinEffect:
			p.Verdict = Equivalent
		case s.Estimate > 0 == c.Higher:
			p.Verdict = Better
		}
		p.Parameters = differing(FactsOf(w.Runs[at[k-1]].report), FactsOf(w.Runs[at[k]].report))
		c.Changes = append(c.Changes, p)
	}
}

// stretch divides the runs at the changes.
func (c *Series) stretch(at []int, values []float64, changes []int) {
	ends := slices.Concat([]int{0}, changes, []int{len(values)})
	for i := 1; i < len(ends) && len(values) > 0; i++ {
		part := slices.Sorted(slices.Values(values[ends[i-1]:ends[i]]))
		s := Stretch{From: at[ends[i-1]], To: len(c.Values), Runs: len(part), Median: stats.Median(part)}
		if i == 1 {
			s.From = 0
		}
		if i < len(ends)-1 {
			s.To = at[ends[i]]
		}
		if low, high, ok := stats.MedianInterval(part, intervalLevel); ok {
			s.Low, s.High = &low, &high
		}
		c.Stretches = append(c.Stretches, s)
	}
}

// Main returns the series of the throughput of all operations, or of the objects per second if there is no payload; nil if
// there is neither.
func (w *Workload) Main() *Series {
	for _, metric := range []string{"throughput", "objs"} {
		if c := w.Total(metric); c != nil {
			return c
		}
	}
	return nil
}

// Total returns the series of a metric of the total or the only operation, or nil.
func (w *Workload) Total(metric string) *Series {
	for i := range w.Series {
		c := &w.Series[i]
		if c.Name() != w.Series[0].Name() {
			return nil
		}
		if c.Metric == metric {
			return c
		}
	}
	return nil
}

// throughputs sets by how much each run differs from the one before, and the verdict of runs at which a metric changed.
func (w *Workload) throughputs() {
	if c := w.Main(); c != nil {
		for i := 1; i < len(c.Values); i++ {
			if before, after := c.Values[i-1], c.Values[i]; before != nil && after != nil && *before > 0 {
				w.Runs[i].Change = new(100 * (*after/(*before) - 1))
			}
		}
	}
	for i := range w.Series {
		c := &w.Series[i]
		for _, p := range c.Changes {
			w.Runs[p.Run].conclude(c.label(), p.Verdict, p.Change)
		}
	}
}

// Largest returns the largest value of all runs.
func (c *Series) Largest() (largest float64) {
	for _, v := range c.Values {
		if v != nil {
			largest = max(largest, *v)
		}
	}
	return largest
}

// label names the metric, with its operation unless that is the total.
func (c *Series) label() string {
	if c.Op == "" {
		return c.Metric
	}
	return c.Op + " " + c.Metric
}

// conclude adds a verdict on one metric. Worse counts more than better, and both more than equivalent.
func (r *PastRun) conclude(what string, v Verdict, change *float64) {
	if change != nil {
		what += fmt.Sprintf(" %+.1f%%", *change)
	}
	r.Details = append(r.Details, what)
	if r.Verdict == "" {
		r.Verdict = v
		return
	}
	r.Verdict = Overall([]Verdict{r.Verdict, v})
}

// judgeSets compares each baseline with the one before. The verdict belongs to its first run.
func (w *Workload) judgeSets(runs []Past, o Options) error {
	type set struct {
		first int
		Set
	}
	var sets []*set
	for i, r := range runs {
		k := slices.IndexFunc(sets, func(s *set) bool { return s.Name == r.Set })
		switch {
		case r.Set == "":
			continue
		case k < 0:
			sets = append(sets, &set{i, Set{r.Set, []Run{r.Run}}})
		default:
			sets[k].Runs = append(sets[k].Runs, r.Run)
		}
	}
	for k := 1; k < len(sets); k++ {
		c, err := JudgeSets([]Set{sets[k-1].Set, sets[k].Set}, false, o)
		if err != nil {
			return of(err, []Set{sets[k-1].Set, sets[k].Set, {}}, 0, 1)
		}
		v := c.Comparisons[0]
		r := &w.Runs[sets[k].first]
		r.Verdict, r.Details = v.Verdict, []string{}
		for _, row := range v.Judged() {
			if row.Verdict == Better || row.Verdict == Worse {
				r.conclude(row.Metric, row.Verdict, row.Change)
			}
		}
	}
	return nil
}

// logarithms returns false if a value has none.
func logarithms(values []float64) (logs []float64, ok bool) {
	for _, x := range values {
		if !(x > 0) || math.IsInf(x, 0) {
			return nil, false
		}
		logs = append(logs, math.Log(x))
	}
	return logs, true
}
