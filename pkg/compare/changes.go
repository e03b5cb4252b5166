package compare

import (
	"warp/internal/exact"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// Changes describe what changed from one report to another. Units are as in
// Report. Operations are matched by name, and in a script by the number of the
// statement too.
type Changes struct {
	Version    int         `json:"version"`     // 1
	Before     Compared    `json:"before"`      // what is compared
	After      Compared    `json:"after"`       // with what
	Parameters []Parameter `json:"parameters"`  // of the runs, where they differ
	OnlyBefore []string    `json:"only_before"` // operations that the second report lacks
	OnlyAfter  []string    `json:"only_after"`  // operations that the first report lacks
	Operations []OpChange  `json:"operations"`  // those in both, in the order of the second report
}

// Compared names one side of a comparison.
type Compared struct {
	Command  string   `json:"command"`
	Workload string   `json:"workload,omitempty"` // identity; missing if unknown
	Runs     []string `json:"runs,omitempty"`
	Warnings []string `json:"warnings"`
}

// A Parameter has different values in the two runs; "" = not known there, or not set.
type Parameter struct {
	Name     string `json:"name"`
	Before   string `json:"before"`
	After    string `json:"after"`
	Workload bool   `json:"workload"` // it defines the workload: the runs made different loads
}

// A Change is a number before and after.
type Change struct {
	Before  float64  `json:"before"`
	After   float64  `json:"after"`
	Diff    float64  `json:"diff"`    // after - before
	Percent *float64 `json:"percent"` // of before; null where before is 0 and after is not
}

// An OpChange describes the changes of one operation.
type OpChange struct {
	Op           string            `json:"op"`
	Statement    int               `json:"statement,omitempty"` // of a script, from 1
	Warmup       bool              `json:"warmup,omitempty"`    // of that statement
	Stage        bool              `json:"stage,omitempty"`     // the statement is a stage of --stages
	Requests     Change            `json:"requests"`
	Errors       Change            `json:"errors"`
	ErrorsByCode map[string]Change `json:"errors_by_code"`
	RanS         Change            `json:"ran_s"`
	WindowS      Change            `json:"window_s"`
	Concurrency  Change            `json:"concurrency"`
	RequestBytes Change            `json:"request_bytes"` // mean payload per request
	ObjectsPerS  Change            `json:"objects_per_s"`
	BytesPerS    Change            `json:"bytes_per_s"`
	Duration     *StatsChange      `json:"duration_ms"`                    // null unless known on both sides
	TTFB         *StatsChange      `json:"ttfb_ms"`                        // null unless known on both sides
	Response     *StatsChange      `json:"response_ms,omitempty"`          // open loops only
	Averaged     *AveragedChange   `json:"averaged_duration_ms,omitempty"` // where a side is aggregated results
	Fastest      *RateChange       `json:"fastest"`                        // segment
	Median       *RateChange       `json:"median"`                         // segment
	Slowest      *RateChange       `json:"slowest"`                        // segment
	Metrics      []MetricChange    `json:"metrics"`                        // the same figures by the names that they have in tables

	HasBytes      bool   `json:"-"` // whether either side moved payload
	StatementText string `json:"-"` // where it is the same on both sides
}

// Part returns the statement or stage.
func (c *OpChange) Part() oplog.Statement {
	return oplog.Statement{Number: uint16(c.Statement), WarmUp: c.Warmup, Stage: c.Stage}
}

// A StatsChange describes the changes of a distribution of durations, in ms.
type StatsChange struct {
	Mean   Change `json:"mean"`
	P50    Change `json:"p50"`
	P90    Change `json:"p90"`
	P99    Change `json:"p99"`
	P999   Change `json:"p999"`
	Min    Change `json:"min"`
	Max    Change `json:"max"`
	StdDev Change `json:"stddev"`
}

// A MetricChange is the change of a metric.
type MetricChange struct {
	Metric string       `json:"metric"`
	Unit   results.Unit `json:"unit"`
	Change Change       `json:"change"`
}

// A RateChange is the change of the throughput of a segment.
type RateChange struct {
	BytesPerS   Change `json:"bytes_per_s"`
	ObjectsPerS Change `json:"objects_per_s"`
}

// An AveragedChange describes the changes of durations, in ms, where one side or both
// know averages of percentiles only.
type AveragedChange struct {
	Mean Change  `json:"mean"`
	P50  *Change `json:"averaged_p50"` // null unless known on both sides
	P90  *Change `json:"averaged_p90"`
	P99  *Change `json:"averaged_p99"`
	Min  *Change `json:"min"`
	Max  *Change `json:"max"`
}

// Reports compares the reports before and after.
func Reports(before, after *results.Report) Changes {
	b, a := FactsOf(before), FactsOf(after)
	c := Changes{
		Version: 1, Before: compared(before, b), After: compared(after, a),
		Parameters: differing(b, a),
		OnlyBefore: []string{}, OnlyAfter: []string{}, Operations: []OpChange{},
	}
	for i := range before.Operations {
		if b := &before.Operations[i]; counterpart(after, before, i) == nil {
			c.OnlyBefore = append(c.OnlyBefore, b.Label())
		}
	}
	for i := range after.Operations {
		a := &after.Operations[i]
		if b := counterpart(before, after, i); b != nil {
			o := compareOps(b, a)
			if text := after.StatementText(a.Statement); text == before.StatementText(a.Statement) {
				o.StatementText = text
			}
			c.Operations = append(c.Operations, o)
		} else {
			c.OnlyAfter = append(c.OnlyAfter, a.Label())
		}
	}
	return c
}

// counterpart finds in r what operation i is in the other report: where there
// are several of that name, the one with as many before it.
func counterpart(r, other *results.Report, i int) *results.Operation {
	same := func(o *results.Operation) bool {
		x := &other.Operations[i]
		return o.Op == x.Op && o.Statement == x.Statement && o.Warmup == x.Warmup
	}
	before := 0
	for k := range i {
		if same(&other.Operations[k]) {
			before++
		}
	}
	for k := range r.Operations {
		if o := &r.Operations[k]; same(o) {
			if before == 0 {
				return o
			}
			before--
		}
	}
	return nil
}

// compared describes a side. Figures that are the machine's of a side are a warning: the changes are of all figures.
func compared(r *results.Report, f Facts) Compared {
	warnings := append([]string{}, r.Warnings...)
	if c := r.Client; c != nil && (c.Verdict == results.SomeFigures || c.Verdict == results.ClientLimited || len(c.Figures) > 0) {
		warnings = append(warnings, c.Sentence)
	}
	return Compared{r.Command, f.Workload.ID, r.Runs, warnings}
}

func change(before, after float64) Change {
	c := Change{Before: before, After: after, Diff: after - before}
	if before != 0 || after == 0 {
		c.Percent = new(100 * exact.Ratio(c.Diff, before))
	}
	return c
}

func countChange(before, after uint64) Change { return change(float64(before), float64(after)) }

func compareOps(b, a *results.Operation) OpChange {
	c := OpChange{
		Op: a.Op, Statement: a.Statement, Warmup: a.Warmup, Stage: a.Stage, Requests: countChange(b.Requests, a.Requests), Errors: countChange(b.Errors, a.Errors),
		ErrorsByCode: map[string]Change{},
		RanS:         change(b.RanS, a.RanS), WindowS: change(b.WindowS, a.WindowS),
		Concurrency:  change(float64(b.Concurrency), float64(a.Concurrency)),
		RequestBytes: change(b.ObjectBytes.Mean, a.ObjectBytes.Mean),
		ObjectsPerS:  change(b.ObjectsPerS, a.ObjectsPerS), BytesPerS: change(b.BytesPerS, a.BytesPerS),
		Duration: compareStats(b.Duration, a.Duration), TTFB: compareStats(b.TTFB, a.TTFB),
		Response: compareStats(b.Response, a.Response),
		Averaged: compareAveraged(b, a),
		HasBytes: b.HasBytes() || a.HasBytes(),
	}
	x, y := b.Figures(), a.Figures()
	for _, m := range results.Metrics() {
		before, ok := m.Of(&x)
		after, also := m.Of(&y)
		if ok && also && m.Listed {
			c.Metrics = append(c.Metrics, MetricChange{m.Name, m.Unit, change(before, after)})
		}
	}
	for code, n := range b.ErrorsByCode {
		c.ErrorsByCode[code] = countChange(n, a.ErrorsByCode[code])
	}
	for code, n := range a.ErrorsByCode {
		c.ErrorsByCode[code] = countChange(b.ErrorsByCode[code], n)
	}
	if x, y := b.Throughput, a.Throughput; x != nil && y != nil {
		c.Fastest = compareRates(&x.Fastest, &y.Fastest)
		c.Median = compareRates(&x.Median, &y.Median)
		c.Slowest = compareRates(&x.Slowest, &y.Slowest)
	}
	return c
}

func compareStats(b, a *results.Stats) *StatsChange {
	if b == nil || a == nil {
		return nil
	}
	return &StatsChange{
		Mean: change(b.Mean, a.Mean), P50: change(b.P50, a.P50), P90: change(b.P90, a.P90), P99: change(b.P99, a.P99),
		P999: change(b.P999, a.P999), Min: change(b.Min, a.Min), Max: change(b.Max, a.Max), StdDev: change(b.StdDev, a.StdDev),
	}
}

func compareAveraged(before, after *results.Operation) *AveragedChange {
	if before.AveragedDuration == nil && after.AveragedDuration == nil {
		return nil
	}
	b, a := averagedDuration(before), averagedDuration(after)
	if b == nil || a == nil {
		return nil
	}
	both := func(b, a *float64) *Change {
		if b == nil || a == nil {
			return nil
		}
		return new(change(*b, *a))
	}
	return &AveragedChange{change(b.Mean, a.Mean), both(b.P50, a.P50), both(b.P90, a.P90), both(b.P99, a.P99), both(b.Min, a.Min), both(b.Max, a.Max)}
}

// averagedDuration has what aggregated results can be compared with.
func averagedDuration(o *results.Operation) *results.AveragedStats {
	if s := o.Duration; s != nil {
		return &results.AveragedStats{Count: s.Count, Mean: s.Mean, P50: &s.P50, P90: &s.P90, P99: &s.P99, Min: &s.Min, Max: &s.Max}
	}
	return o.AveragedDuration
}

func compareRates(b, a *results.Segment) *RateChange {
	return &RateChange{change(b.BytesPerS, a.BytesPerS), change(b.ObjectsPerS, a.ObjectsPerS)}
}
