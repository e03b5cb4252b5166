package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// A Measurement is one run of a sweep.
type Measurement struct {
	Point  int
	Again  bool // it repeats the first one at the end, to show a drift
	Log    string
	Began  time.Time
	Report *results.Report
}

// A Failure is a run without a complete log.
type Failure struct {
	Values []string `json:"values"` // of the axes
	Log    string   `json:"log"`
	Error  string   `json:"error"`
}

// Options say what a sweep was, and what to show.
type Options struct {
	Folder    string
	Benchmark string
	Command   string // without secrets
	Seed      uint64
	Repeats   int
	Axes      []Axis
	Missing   int // runs that were not made yet
	Failed    []Failure
	Show      []compare.Choice // nil = throughput and p99
}

// A Result has the figures of a sweep and the conclusions from them.
type Result struct {
	Version     int          `json:"version"` // 1
	Kind        string       `json:"kind"`    // "sweep"
	Folder      string       `json:"folder"`
	Benchmark   string       `json:"benchmark"`
	Command     string       `json:"command"`
	Seed        uint64       `json:"seed,string"`
	Axes        []Axis       `json:"axes"`
	Repeats     int          `json:"repeats"`
	Missing     int          `json:"missing"` // runs that were not made
	Failed      []Failure    `json:"failed"`  // runs without a complete log
	Metrics     []Metric     `json:"metrics"`
	Points      []Point      `json:"points"`      // the last axis varies fastest
	Again       *Again       `json:"again"`       // the first run once more; null if it was not made
	Conclusions []Conclusion `json:"conclusions"` // one for each value of the axis that is not the concurrency
}

// A Metric is a column of the table.
type Metric struct {
	Name   string       `json:"name"` // such as p99, or GET.p99
	Unit   results.Unit `json:"unit"`
	Higher bool         `json:"higher_is_better"`

	choice compare.Choice
}

// A Point is one point with its runs.
type Point struct {
	Values  []string `json:"values"` // of the axes
	Logs    []string `json:"logs"`
	Cells   []Cell   `json:"metrics"`            // in the order of the sweep's metrics
	LeftOut string   `json:"left_out,omitempty"` // why no conclusion is drawn from the point

	throughput, p99 Cell
}

// A Cell has the values of one metric at one point.
type Cell struct {
	Values []float64 `json:"values"` // of the runs; may be empty
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	// Low and High are the interval of the median, with at least 95 %; null with fewer than six runs.
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Client string   `json:"client,omitempty"` // why the metric describes this machine rather than the store
}

// Known reports whether the cell has a value.
func (c *Cell) Known() bool { return len(c.Values) > 0 }

// An Again compares the first run with the same point at the end.
type Again struct {
	Values  []string `json:"values"` // of the axes
	Log     string   `json:"log"`
	AfterS  float64  `json:"after_s"` // from the first run to the last one
	Changes []Drift  `json:"changes"` // of the metrics
}

// A Drift is the change of a metric from the first run to the same point at the end.
type Drift struct {
	Metric  string  `json:"metric"`
	Percent float64 `json:"change_percent"`
	// Drifted says that the change is larger than runs of the same thing usually differ: beyond the range of the point's other
	// runs and more than 5 %, or 20 % for times.
	Drifted bool `json:"drifted"`
}

// Changes that count as a drift.
const (
	driftOfRates = .05
	driftOfTimes = .20
)

// intervalLevel is the level of intervals of medians.
const intervalLevel = .95

// Evaluate returns the result of a sweep.
func Evaluate(runs []Measurement, o Options) *Result {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b Measurement) int { return a.Began.Compare(b.Began) })
	r := &Result{
		Version: 1, Kind: "sweep", Folder: o.Folder, Benchmark: o.Benchmark, Command: o.Command, Seed: o.Seed, Axes: o.Axes, Repeats: o.Repeats,
		Missing: o.Missing, Failed: append([]Failure{}, o.Failed...), Conclusions: []Conclusion{},
	}
	rate := compare.Choice{Metric: "throughput"}
	if !slices.ContainsFunc(runs, func(run Measurement) bool { _, ok := value(run.Report, rate); return ok }) {
		rate.Metric = "objs"
	}
	if len(o.Show) == 0 {
		o.Show = []compare.Choice{rate, {Metric: "p99"}}
	}
	for _, c := range o.Show {
		m, _ := results.FindMetric(c.Metric)
		r.Metrics = append(r.Metrics, Metric{Name: c.String(), Unit: m.Unit, Higher: m.Higher, choice: c})
	}
	at := make([][]Measurement, Points(o.Axes))
	for _, run := range runs {
		if !run.Again {
			at[run.Point] = append(at[run.Point], run)
		}
	}
	for point, runs := range at {
		r.Points = append(r.Points, r.point(point, runs, rate))
	}
	r.Again = r.again(runs, at)
	r.conclude(rate.Metric)
	return r
}

// point evaluates one point.
func (r *Result) point(point int, runs []Measurement, rate compare.Choice) Point {
	p := Point{Values: Values(r.Axes, point), Logs: []string{}}
	unfit := 0
	for _, run := range runs {
		p.Logs = append(p.Logs, run.Log)
		why := compare.Unfit(run.Report, compare.MaxErrors)
		if v := run.Report.Client; why == "" && v != nil && v.Verdict == results.ClientLimited {
			why = human.LowerFirst(v.Sentence)
		}
		if why != "" {
			unfit++
			p.LeftOut = cmp.Or(p.LeftOut, why)
		}
	}
	if unfit > 0 && len(runs) > 1 {
		p.LeftOut = fmt.Sprintf("%d of %d runs: %s", unfit, len(runs), p.LeftOut)
	}
	for _, m := range r.Metrics {
		p.Cells = append(p.Cells, cellOf(runs, m.choice))
	}
	p.throughput, p.p99 = cellOf(runs, rate), cellOf(runs, compare.Choice{Metric: "p99"})
	if p.LeftOut == "" && p.throughput.Client != "" {
		p.LeftOut = p.throughput.Client
	}
	return p
}

// cellOf evaluates a metric of the runs of a point.
func cellOf(runs []Measurement, choice compare.Choice) Cell {
	c := Cell{Values: []float64{}}
	m, _ := results.FindMetric(choice.Metric)
	limited, example := 0, ""
	for _, run := range runs {
		x, ok := value(run.Report, choice)
		if !ok {
			continue
		}
		c.Values = append(c.Values, x)
		f, _ := figures(run.Report, choice.Op)
		if why := m.ClientCause(&f); why != "" {
			limited++
			example = cmp.Or(example, why)
		}
	}
	if len(c.Values) == 0 {
		return c
	}
	if c.Client = example; limited > 0 && len(runs) > 1 {
		c.Client = fmt.Sprintf("%d of %d runs: %s", limited, len(runs), example)
	}
	sorted := slices.Sorted(slices.Values(c.Values))
	c.Median, c.Min, c.Max = stats.Median(sorted), sorted[0], sorted[len(sorted)-1]
	if low, high, ok := stats.MedianInterval(sorted, intervalLevel); ok {
		c.Low, c.High = &low, &high
	}
	return c
}

// value returns the value of a metric in a run.
func value(r *results.Report, c compare.Choice) (float64, bool) {
	m, known := results.FindMetric(c.Metric)
	f, ok := figures(r, c.Op)
	if !known || !ok {
		return 0, false
	}
	x, ok := m.Of(&f)
	return x, ok && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// figures returns the figures of an operation, "" for all of them.
func figures(r *results.Report, op string) (f results.Figures, ok bool) {
	if op == "" {
		f, ok = r.Total()
	} else {
		ops := r.OperationsOf(r.MainGroup())
		i := slices.IndexFunc(ops, func(o *results.Operation) bool { return o.Op == op })
		if ok = i >= 0; ok {
			f = ops[i].Figures()
		}
	}
	f.SentLate = r.SentLate()
	return f, ok
}

// again compares the first run with the same point at the end.
func (r *Result) again(runs []Measurement, at [][]Measurement) *Again {
	i := slices.IndexFunc(runs, func(run Measurement) bool { return run.Again })
	if i < 0 || len(at[runs[i].Point]) == 0 {
		return nil
	}
	last, same := runs[i], at[runs[i].Point]
	first := same[0]
	a := &Again{Values: Values(r.Axes, last.Point), Log: last.Log, AfterS: last.Began.Sub(first.Began).Seconds(), Changes: []Drift{}}
	for _, m := range r.Metrics {
		before, ok := value(first.Report, m.choice)
		after, also := value(last.Report, m.choice)
		if !ok || !also || before == 0 {
			continue
		}
		limit := driftOfRates
		if m.Unit == results.Milliseconds {
			limit = driftOfTimes
		}
		c, change := cellOf(same, m.choice), after/before-1
		a.Changes = append(a.Changes, Drift{Metric: m.Name, Percent: 100 * change, Drifted: math.Abs(change) > limit && (after < c.Min || after > c.Max)})
	}
	return a
}

// Largest returns the largest median of a metric.
func (r *Result) Largest(metric int) (largest float64) {
	for i := range r.Points {
		largest = max(largest, r.Points[i].Cells[metric].Median)
	}
	return largest
}

// Label names a point, such as "obj.size=1MiB concurrent=8".
func Label(axes []Axis, values []string) string {
	var parts []string
	for i, v := range values {
		parts = append(parts, axes[i].Flag+"="+v)
	}
	return strings.Join(parts, " ")
}
